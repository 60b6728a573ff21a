import type { Account } from '../../model/account.ts';
import { countCodePoints } from '../text.ts';
import type { RichText } from '../text-writer.ts';

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
