import { expect, it } from 'vitest';
import { toOwnBuffer } from '../../../src/render/formats.ts';

it.each([
  ['text', 'é', 2],
  ['a part of a larger buffer', Buffer.from('heron').subarray(1, 4), 3],
  ['nothing', '', 0],
])('has the memory of %s, and no more', (_, content, length) => {
  const own = toOwnBuffer(content);

  expect(own.equals(Buffer.from(content))).toBe(true);
  expect([own.length, own.buffer.byteLength]).toEqual([length, length]);
});
