import type { Account } from '../../model/account.ts';
import type { Media } from '../../model/media.ts';
import type { Poll, Status } from '../../model/post.ts';
import { cutLine, toLine } from '../markdown/characters.ts';
import { formatCount, formatDuration, formatNumber } from '../markdown/layout.ts';
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
export function present<Item>(items: readonly (Item | null | '' | undefined)[]): Item[] {
  const shown: Item[] = [];
  for (const item of items) {
    if (item !== null && item !== undefined && item !== '') shown.push(item);
  }
  return shown;
}

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

const day = (time: string): Words => ({ type: 'time', time, precision: 'day', url: null });

export const toText = (
  text: string,
  annotations: readonly Annotation[] = [],
  lang: string | null = null,
): Block => ({ type: 'text', text, annotations, lang });

const labelled = (label: string, words: Words | null): Words | null =>
  words === null || words === '' ? null : [`${label}: `, words];

/** Returns `copied from` with a link to the source server; `null` for an original. */
export const describeCopy = ({ copied_from: source }: Status | Account): Words | null =>
  source === undefined ? null : ['copied from ', link(source.host, source.url)];

/** Returns a heading's level. Must be called once per rendered heading, in order. */
export const levelOf = ({ level, nest }: Extract<Block, { type: 'heading' }>): number =>
  nest?.(level) ?? level;

/** Returns the labelled media. `full` adds sizes and links to the best video files. */
export function toMediaItems(all: readonly Media[], full: boolean): MediaItem[] {
  const labels = describeMedia(all);
  return all.map((item, at) => {
    const alt = item.type === 'photo' ? toLine(item.alt ?? '').trim() : '';
    const label = labels[at] ?? '';
    return { item, label, caption: alt || label, details: full ? describeDetails(item) : [] };
  });
}

function describeDetails({ width, height, variants = [] }: Media): readonly Words[] {
  const size = width === null || height === null ? null : `${width} × ${height} px`;
  return present([size, ...linkVariants(variants)]);
}

const maxVariants = 3; // maximum number of linked files of a video, which has one file for each bit rate

function linkVariants(variants: NonNullable<Media['variants']>): Words[] {
  return variants
    .toSorted((a, b) => (b.bitrate ?? 0) - (a.bitrate ?? 0))
    .slice(0, maxVariants)
    .map(({ bitrate, content_type, url }) => {
      const rate = bitrate === null ? '' : ` ${formatNumber(bitrate / 1000)} kbit/s`;
      return link(`${formatName(content_type)}${rate}`, url);
    });
}

function formatName(contentType: string | null): string {
  if (contentType === null) return 'File';
  return /mpegurl/i.test(contentType) ? 'HLS' : contentType.replace(/^.*\//, '').toUpperCase();
}

/** Returns a label for each media item: its kind and the author's description. */
export function describeMedia(all: readonly Media[]): readonly string[] {
  const [totals, seen] = [new Map<Media['type'], number>(), new Map<Media['type'], number>()];
  for (const { type } of all) totals.set(type, (totals.get(type) ?? 0) + 1);
  return all.map((item) => {
    const { type, alt, duration = null } = item;
    const position = (seen.get(type) ?? 0) + 1;
    seen.set(type, position);
    const said = toLine(alt ?? '');
    if (type === 'file') return joinParts(['File', toLine(describeFile(item)), said]);
    const total = totals.get(type);
    const place = said !== '' || total === 1 ? '' : ` ${position} of ${total}`;
    const isTimed = ['video', 'audio'].includes(type) && duration !== null;
    const length = isTimed ? `, ${formatDuration(duration)}` : '';
    return joinParts([`${mediaNames[type]}${place}${length}`, said]);
  });
}

const joinParts = (parts: readonly string[]) => parts.filter((part) => part !== '').join(': ');

const mediaNames = {
  photo: 'Photo',
  video: 'Video',
  gif: 'GIF',
  audio: 'Audio',
  file: 'File',
} as const;

function describeFile({ name, content_type, size }: Media): string {
  const facts = [content_type, size === undefined ? undefined : formatBytes(size)];
  const known = facts.filter((fact) => fact !== undefined).join(', ');
  return `${name ?? ''}${known === '' ? '' : ` (${known})`}`.trim();
}

const sizeUnits = ['bytes', 'kB', 'MB', 'GB'] as const;

function formatBytes(bytes: number): string {
  // Rounded before the unit is chosen, so that 999,999 bytes are 1 MB and not 1000 kB.
  const rounded = bytes < 1000 ? bytes : Number(bytes.toPrecision(3));
  const power = Math.max(
    0,
    sizeUnits.findLastIndex((_unit, at) => rounded >= 1000 ** at),
  );
  return `${rounded / 1000 ** power} ${sizeUnits[power]}`;
}

/** Facts of a profile, each on a line of its own. `full` adds pictures, more counts and the ID. */
export function listProfileFacts(account: Account, full: boolean): readonly Words[] {
  return present([...factsOf(account, full), ...(full ? extraFactsOf(account) : [])]);
}

interface ProfileHead {
  readonly facts: readonly Words[];
  readonly counts: readonly ProfileCount[];
  readonly details: readonly Words[];
}

interface ProfileCount {
  readonly list: 'posts' | 'followers' | 'following';
  readonly count: number;
  readonly label: string;
}

/** Returns the head of an account's page. `full` adds pictures, more counts and the ID. */
export function toProfileHead(account: Account, full: boolean): ProfileHead {
  const { location, website, joined, statuses, followers, following } = account;
  const counts = [
    { list: 'posts', count: statuses, label: statuses === 1 ? 'post' : 'posts' },
    { list: 'followers', count: followers, label: followers === 1 ? 'follower' : 'followers' },
    { list: 'following', count: following, label: 'following' },
  ] as const;
  return {
    facts: present<Words>([
      location && plain(location),
      website && { type: 'url', url: website.url },
      joined && ['Joined ', full ? minute(joined) : day(joined)],
      describeVerification(account),
      describeProtection(account),
      describeCopy(account),
    ]),
    counts: counts.flatMap(({ count, ...rest }) => (count === null ? [] : [{ count, ...rest }])),
    details: full ? present(extraFactsOf(account)) : [],
  };
}

function joinFacts(facts: readonly (Words | null)[]): Words | null {
  const shown = present(facts);
  return shown.length === 0
    ? null
    : shown.flatMap((fact, at) => (at === 0 ? [fact] : [' · ', fact]));
}

function factsOf(account: Account, full: boolean): readonly (Words | null)[] {
  const { location, website, joined, url, copied_from: copied } = account;
  return [
    labelled('Profile', { type: 'url', url }),
    labelled('Copied from', copied === undefined ? null : link(copied.host, copied.url)),
    labelled('Location', location && plain(location)),
    // Shows the actual URL, because a platform's display text can look like another URL.
    labelled('Website', website && { type: 'url', url: website.url }),
    labelled('Joined', joined && (full ? minute(joined) : day(joined))),
    joinFacts([
      formatCount(account.followers, 'follower', 'followers'),
      formatCount(account.following, 'following', 'following'),
      formatCount(account.statuses, 'post', 'posts'),
    ]),
    describeVerification(account),
    describeProtection(account),
  ];
}

const describeProtection = (account: Account): Words | null =>
  account.protected ? 'Protected: only approved followers see its posts' : null;

function extraFactsOf(account: Account): readonly (Words | null)[] {
  const { avatar_url: avatar, banner_url: banner } = account;
  const pictures = Object.entries({ avatar, banner }).map(([name, url]) => url && link(name, url));
  return [
    joinFacts([
      formatCount(account.likes, 'like', 'likes'),
      formatCount(account.media_count, 'media item', 'media items'),
    ]),
    labelled('Pictures', joinFacts(pictures)),
    labelled('ID', plain(account.id)),
  ];
}

function describeVerification({ verification: { verified, type } }: Account): Words | null {
  if (!verified) return null;
  return type === null ? 'Verified' : ['Verified: ', plain(type)];
}

interface AccountRow {
  readonly facts: readonly Words[];
  readonly biography: Words;
  readonly details: readonly Words[];
}

const maxBiography = 160; // maximum length in code points of a biography in a list: X's own limit

/** Returns an account in a list. `full` adds details and the whole biography. */
export function toAccountRow(account: Account, full: boolean): AccountRow {
  return {
    facts: present([
      formatCount(account.followers, 'follower', 'followers'),
      describeVerification(account),
      account.protected ? 'Protected' : null,
      describeCopy(account),
    ]),
    biography: describeBiography(account, full),
    details: full ? present(detailsOf(account)) : [],
  };
}

function describeBiography({ description }: Account, full: boolean): Words {
  const whole = toLine(description ?? '');
  const shown = full ? whole : cutLine(whole, maxBiography);
  // A shortened biography can end in a shortened URL, which must not become a link.
  return shown === whole ? { type: 'prose', text: whole } : plain(shown);
}

const detailsOf = ({ location, joined, following, statuses }: Account) => [
  labelled('Location', location && plain(location)),
  labelled('Joined', joined && day(joined)),
  formatCount(following, 'following', 'following'),
  formatCount(statuses, 'post', 'posts'),
];
