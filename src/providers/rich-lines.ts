import { countCodePoints } from './text.ts';
import type { RichText } from './text-writer.ts';

/** Joins texts by a separator, with their facets. Empty texts are left out. */
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

/** Puts text without facets before a text. */
export function prefixText(prefix: string, { text, facets }: RichText): RichText {
  return joinTexts(
    [
      { text: prefix, facets: [] },
      { text, facets },
    ],
    '',
  );
}
