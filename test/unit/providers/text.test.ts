import { describe, expect, it } from 'vitest';
import { codePointOffsets, decodeEntities } from '../../../src/providers/text.ts';

describe('decodeEntities', () => {
  it('decodes each of the five once, and nothing else', () => {
    expect(decodeEntities('&lt;a&gt; &amp;&quot;&#39; &amp;lt; &nbsp; &')).toBe(
      `<a> &"' &lt; &nbsp; &`,
    );
  });
});

describe('codePointOffsets', () => {
  it('maps every index, also within a pair', () => {
    const toOffset = codePointOffsets('a🐦b');

    expect([0, 1, 2, 3, 4, 9].map(toOffset)).toEqual([0, 1, 1, 2, 3, 3]);
  });
});
