import type { Facet } from '../model/post.ts';
import { isWebUrl } from './text.ts';

interface LinkElement {
  readonly href: string;
  readonly classes: ReadonlySet<string>;
  /** Visible text of the link, which contains `…` if the link is shortened. */
  readonly label: string;
  readonly isShortened: boolean;
}

/** Function that returns a mention's full handle; `null` if unknown. `label`: visible text. */
export type NameMention = (url: string, label: string) => string | null;

/**
 * Returns a link's text and facet; the facet is `null` for an invalid URL or without text. The text
 * of a mention becomes the full handle, and a shortened URL the full one.
 */
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
  return { text: link.isShortened || isWebUrl(label.trim()) ? toOneWord(url) : label, facet };
}

function typeOf({ classes, label }: LinkElement): 'hashtag' | 'mention' | 'link' {
  const isMention = classes.has('mention');
  if (classes.has('hashtag') || (isMention && label.startsWith('#'))) return 'hashtag';
  return isMention || (classes.has('u-url') && label.startsWith('@')) ? 'mention' : 'link';
}

/** Percent-encodes a URL with white space, which would end it within a text. */
const toOneWord = (url: string): string => (/\s/.test(url) ? new URL(url).href : url);
