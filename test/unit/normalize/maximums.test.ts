import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  maxAnswerText,
  maximums,
  shortTexts,
  shownTexts,
} from '../../../src/normalize/maximums.ts';

describe('the documented limits on what sources send', () => {
  it('are the maximums in the code, in the order of the page', () => {
    const [, section = ''] = readFileSync('docs/security.md', 'utf8').split(
      '## Limits on responses from sources',
    );
    const [limits = ''] = section.split('Characters are UTF-16');
    const table = limits.replaceAll(/^[^|\n].*\n/gm, '');
    const numbers = [...table.matchAll(/\d[\d,]*(?= (?:characters|\|)|$)|cut to (\d+)/gm)].map(
      ([number, cut]) => Number((cut ?? number).replaceAll(',', '')),
    );

    expect(numbers).toEqual([
      maximums.rows,
      maximums.media,
      maximums.variants,
      maximums.facets,
      maximums.choices,
      maximums.tags,
      maximums.reactions,
      maximums.fields,
      maximums.blocks,
      maximums.quotes,
      shownTexts.text,
      shownTexts.description,
      shownTexts.note,
      shownTexts.line,
      shownTexts.name,
      maximums.url,
      maxAnswerText,
      shortTexts.text,
      shortTexts.name,
    ]);
  });
});
