import type { Facet } from '../model/post.ts';
import { isWebUrl } from './text.ts';

interface LinkElement {
  readonly href: string;
  readonly classes: ReadonlySet<string>;
  /** The visible text, with `…` where it is shortened. */
  readonly label: string;
  readonly isShortened: boolean;
}

/** Returns the full handle of a mention by the address of the profile and its label; `null` if unknown. */
export type NameMention = (url: string, label: string) => string | null;

/** Returns the text of a link: a mention with its server, an address in full. */
export function toLinkText(link: LinkElement, nameMention: NameMention) {
  const { label } = link;
  const url = link.href.trim();
  if (!isWebUrl(url) || label.trim() === '') return { text: label, facet: null };
  const type = typeOf(link);
  const facet: Pick<Facet, 'type' | 'url'> = { type, url };
  if (type === 'hashtag') return { text: label, facet };
  if (type === 'mention') {
    const handle = nameMention(url, label);
    return { text: handle === null ? label : `@${handle}`, facet };
  }
  const isShown = link.isShortened || isWebUrl(label.trim());
  return { text: isShown ? toOneWord(url) : label, facet };
}

function typeOf({ classes, label }: LinkElement): 'hashtag' | 'mention' | 'link' {
  const isMention = classes.has('mention');
  if (classes.has('hashtag') || (isMention && label.startsWith('#'))) return 'hashtag';
  return isMention || (classes.has('u-url') && label.startsWith('@')) ? 'mention' : 'link';
}

/** An address may be written with spaces in it, which do not survive in a text. */
function toOneWord(url: string): string {
  return /\s/.test(url) ? new URL(url).href : url;
}
