import type { Account } from '../../model/account.ts';
import type { Media } from '../../model/media.ts';
import type { Poll, Status } from '../../model/post.ts';
import type { Annotation } from '../markdown/spans.ts';
import type { NestHeading } from '../markdown/verbatim.ts';

/** Words on one line. A string is text of Perch without markup; all other texts are escaped. */
export type Words =
  | string
  | readonly Words[]
  | { readonly type: 'bold' | 'italic'; readonly words: string }
  /** Text of a source: as it is (`plain`), or with its bare URLs as links (`prose`). */
  | { readonly type: 'plain' | 'prose'; readonly text: string }
  /** Only the text if the URL is not http, https or mailto. */
  | { readonly type: 'link'; readonly text: string; readonly url: string | null }
  /** Link whose text is the URL. */
  | { readonly type: 'url'; readonly url: string }
  /** Time to the minute, or only the day. Links to `url` if there is one. */
  | {
      readonly type: 'time';
      readonly time: string;
      readonly precision: 'minute' | 'day';
      readonly url: string | null;
    }
  /** Name and handle of an account. The handle is a link. */
  | { readonly type: 'account'; readonly account: Account; readonly isBold: boolean }
  /** Handle of an account as a link. */
  | { readonly type: 'handle'; readonly account: Account };

type LineRole = 'plain' | 'title' | 'context' | 'warning' | 'remark' | 'facts' | 'counts';

/** Purpose of a box. `citation`: placeholder of an unavailable post. */
export type BoxRole = 'card' | 'note' | 'earlier' | 'quote' | 'citation' | 'passage';

/** Picture that links to `target`. Sizes are in pixels, or `null` if unknown. */
export interface Figure {
  readonly url: string;
  readonly target: string;
  /** Description of the picture, or the text of its link where no picture is shown. */
  readonly label: string;
  readonly width: number | null;
  readonly height: number | null;
}

export interface MediaItem {
  readonly item: Media;
  /** Kind, position, duration and description. */
  readonly label: string;
  /** The description alone for a photo that has one; the label for all others. */
  readonly caption: string;
  /** Size and files; empty if the page shows no details. */
  readonly details: readonly Words[];
}

export interface StyledText {
  readonly text: string;
  readonly annotations: readonly Annotation[];
}

export interface Box {
  readonly type: 'box';
  readonly role: BoxRole;
  readonly label: Words | null;
  readonly blocks: readonly Block[];
}

/** Part of a post, an article or a profile, which a writer renders as Markdown or HTML. */
export type Block =
  /** Facts on one line, separated by ` · `. */
  | { readonly type: 'line'; readonly role: LineRole; readonly facts: readonly Words[] }
  | (StyledText & { readonly type: 'text'; readonly lang: string | null })
  | {
      readonly type: 'media';
      readonly items: readonly MediaItem[];
      /** Whether all are links, because the post is sensitive or has a content warning. */
      readonly isHidden: boolean;
    }
  | { readonly type: 'poll'; readonly choices: Poll['choices']; readonly facts: readonly Words[] }
  | Box
  /** Heading. `nest`, if not `null`, returns its level on the page; it is called in the order of the headings. */
  | (StyledText & {
      readonly type: 'heading';
      readonly level: number;
      readonly nest: NestHeading | null;
    })
  | { readonly type: 'list'; readonly isOrdered: boolean; readonly items: readonly StyledText[] }
  | { readonly type: 'code'; readonly text: string }
  /** Markdown text whose headings get the levels that `nest` returns. */
  | { readonly type: 'markdown'; readonly text: string; readonly nest: NestHeading }
  | {
      readonly type: 'figure';
      /** `card`: picture of a link card, which is rendered only if it can be shown. */
      readonly role: 'article' | 'card';
      readonly figure: Figure;
      readonly isHidden: boolean;
    }
  | { readonly type: 'article'; readonly blocks: readonly Block[] }
  | { readonly type: 'rule' };

/** Removes absent and empty items. */
export const present = <Item>(items: readonly (Item | null | '' | undefined)[]): Item[] =>
  items.filter((item): item is Item => item !== null && item !== undefined && item !== '');

export function line(role: LineRole, facts: readonly (Words | null)[]): Block | null {
  const shown = present(facts);
  return shown.length === 0 ? null : { type: 'line', role, facts: shown };
}

export const plain = (text: string): Words => ({ type: 'plain', text });

export const link = (text: string, url: string | null): Words => ({ type: 'link', text, url });

export const minute = (time: string, url: string | null = null): Words => ({
  type: 'time',
  time,
  precision: 'minute',
  url,
});

export const day = (time: string): Words => ({ type: 'time', time, precision: 'day', url: null });

export const toText = (
  text: string,
  annotations: readonly Annotation[] = [],
  lang: string | null = null,
): Block => ({ type: 'text', text, annotations, lang });

export const labelled = (label: string, words: Words | null): Words | null =>
  words === null || words === '' ? null : [`${label}: `, words];

/** Returns `copied from` with a link to the source server; `null` for an original. */
export const describeCopy = ({ copied_from: source }: Status | Account): Words | null =>
  source === undefined ? null : ['copied from ', link(source.host, source.url)];

/** Returns a heading's level. Must be called once per rendered heading, in order. */
export const levelOf = ({ level, nest }: Extract<Block, { type: 'heading' }>): number =>
  nest?.(level) ?? level;
