import { describe, expect, it } from 'vitest';
import {
  codePointOffsets,
  decodeEntities,
  decodeWithOffsets,
} from '../../../src/platforms/text.ts';

describe('decodeEntities', () => {
  it('decodes each of the five once, and nothing else', () => {
    expect(decodeEntities('&lt;a&gt; &amp;&quot;&#39; &amp;lt; &nbsp; &')).toBe(
      `<a> &"' &lt; &nbsp; &`,
    );
  });
});

describe('decodeWithOffsets', () => {
  it('tells where each code point stands, also after pairs and entities', () => {
    const { text, length, toIndex } = decodeWithOffsets('🐦&lt;&amp;b');

    expect({ text, length }).toEqual({ text: '🐦<&b', length: 11 });
    expect([0, 1, 4, 5, 9, 10, 11, 99].map(toIndex)).toEqual([0, 2, 2, 3, 3, 4, 5, 5]);
  });
});

describe('codePointOffsets', () => {
  it('maps every index, also within a pair', () => {
    const toOffset = codePointOffsets('a🐦b');

    expect([0, 1, 2, 3, 4, 9].map(toOffset)).toEqual([0, 1, 1, 2, 3, 3]);
  });
});
