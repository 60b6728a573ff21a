import { describe, expect, it } from 'vitest';
import { listDocstrings } from '../scripts/docstrings.ts';

/** Openings that hide the subject of a sentence: “Gives what was read”, “Where the rows are kept”. */
const riddles = /^(?:Gives|Makes|Tells|Told|What|Who|Whom|Whose|Where)\b/;

describe('docstrings', () => {
  it('begin with a verb or a noun that names their subject', () => {
    const found = listDocstrings().filter(({ text }) => riddles.test(text));

    expect(found.map(({ path, line, text }) => `${path}:${line}: ${text}`)).toEqual([]);
  });

  it('are found in every folder of the sources', () => {
    const folders = new Set(listDocstrings().map(({ path }) => path.split('/')[0]));

    expect([...folders].sort()).toEqual(['bench', 'clients', 'scripts', 'src']);
  });
});
