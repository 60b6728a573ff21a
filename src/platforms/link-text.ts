import type { Facet } from '../model/post.ts';
import { isWebUrl } from './text.ts';

interface LinkElement {
  readonly href: string;
  readonly classes: ReadonlySet<string>;
  /** The visible text, with `…` where it is shortened. */
  readonly label: string;
  readonly isShortened: boolean;
}

interface LinkText {
  readonly text: string;
  readonly facet: Pick<Facet, 'type' | 'url'> | null;
}

/** Returns the full handle of a mention by the address of the profile and its label; `null` if unknown. */
export type NameMention = (url: string, label: string) => string | null;

/** Returns the text of a link: a mention with its server, an address in full. */
export function toLinkText(link: LinkElement, nameMention: NameMention): LinkText {
  const { label } = link;
  const url = link.href.trim();
  if (!isWebUrl(url) || label.trim() === '') return { text: label, facet: null };
  const type = typeOf(link);
  return { text: toText(type, { ...link, href: url }, nameMention), facet: { type, url } };
}

function typeOf({ classes, label }: LinkElement): 'hashtag' | 'mention' | 'link' {
  const isMention = classes.has('mention');
  if (classes.has('hashtag') || (isMention && label.startsWith('#'))) return 'hashtag';
  return isMention || (classes.has('u-url') && label.startsWith('@')) ? 'mention' : 'link';
}

function toText(
  type: ReturnType<typeof typeOf>,
  { href, label, isShortened }: LinkElement,
  nameMention: NameMention,
): string {
  switch (type) {
    case 'hashtag':
      return label;
    case 'mention': {
      const handle = nameMention(href, label);
      return handle === null ? label : `@${handle}`;
    }
    case 'link':
      return isShortened || isWebUrl(label.trim()) ? toOneWord(href) : label;
  }
}

/** An address may be written with spaces in it, which do not survive in a text. */
function toOneWord(url: string): string {
  return /\s/.test(url) ? new URL(url).href : url;
}
