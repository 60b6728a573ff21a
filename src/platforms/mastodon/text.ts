import { toRichText } from '../html-text.ts';
import type { NameMention } from '../link-text.ts';
import { toCodePoints } from '../text.ts';
import type { RichText } from '../text-writer.ts';

const quoteFallback: ReadonlySet<string> = new Set(['quote-inline']);

interface TextOptions {
  readonly nameMention: NameMention;
  /** Whether the quoted post is shown, so that the text needs no link to it. */
  readonly showsQuote: boolean;
}

export const readPostText = (html: string, { nameMention, showsQuote }: TextOptions): RichText =>
  toRichText(html, { nameMention, ...(showsQuote && { omittedClasses: quoteFallback }) });

/** Returns the hashtags of a post that are not in its text; `null` if there are none. */
export function findTagsBeside(
  tags: readonly string[],
  { text, facets }: RichText,
): readonly string[] | null {
  if (tags.length === 0) return null;
  const points = toCodePoints(text);
  const hashtags = facets.filter(({ type }) => type === 'hashtag');
  const names = hashtags.map(({ start, end }) => toName(points.slice(start, end).join('')));
  const shown = new Set(names);
  const beside = tags.filter((name) => !shown.has(toName(name)));
  return beside.length === 0 ? null : beside;
}

const toName = (tag: string): string => tag.replace(/^[#＃]/u, '').toLowerCase();
