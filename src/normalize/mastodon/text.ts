import type { Account } from '../../model/account.ts';
import { type NameMention, toRichText } from '../html-text.ts';
import { countCodePoints, toCodePoints } from '../text.ts';
import type { RichText } from '../text-writer.ts';

interface TextOptions {
  readonly nameMention: NameMention;
  /** Whether the quoted post is shown, so that the text needs no link to it. */
  readonly showsQuote: boolean;
}

export const readPostText = (html: string, { nameMention, showsQuote }: TextOptions): RichText =>
  toRichText(html, { nameMention, ...(showsQuote && { omittedClass: 'quote-inline' }) });

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

export interface ProfileField {
  readonly name: string;
  readonly value: RichText;
}

/** Joins a biography (`about`) and the filled profile fields, one per line. */
export function describeProfile(
  about: RichText,
  fields: readonly ProfileField[],
): Pick<Account, 'description' | 'description_facets'> {
  const filled = fields.filter(({ value }) => /\S/.test(value.text));
  const lines = filled.map(({ name, value }) => {
    return joinTexts([{ text: `${name.trim()}: `, facets: [] }, value], '');
  });
  const { text, facets } = joinTexts([about, joinTexts(lines, '\n')], '\n\n');
  return {
    description: text === '' ? null : text,
    ...(facets.length > 0 && { description_facets: facets }),
  };
}

/** Joins texts, and adjusts the offsets of their facets. Omits empty texts. */
export function joinTexts(texts: readonly RichText[], separator: string): RichText {
  const gap = countCodePoints(separator);
  const facets: RichText['facets'][number][] = [];
  let offset = 0;
  const parts = texts.filter(({ text }) => text !== '');
  for (const part of parts) {
    for (const facet of part.facets) {
      facets.push({ ...facet, start: facet.start + offset, end: facet.end + offset });
    }
    offset += countCodePoints(part.text) + gap;
  }
  return { text: parts.map(({ text }) => text).join(separator), facets };
}
