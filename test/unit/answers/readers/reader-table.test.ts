import { expect, it } from 'vitest';
import { decodeText } from '../../../../src/answers/readers/reader-table.ts';

it.each([
  ['UTF-8', Buffer.from('größer')],
  ['UTF-8 with a mark', Buffer.from('\ufeffgrößer')],
  ['UTF-16, little end first', Buffer.from('\ufeffgrößer', 'utf16le')],
  ['UTF-16, big end first', Buffer.from('\ufeffgrößer', 'utf16le').swap16()],
  ['Windows-1252', Buffer.from('größer', 'latin1')],
])('decodes %s', (_, bytes) => {
  expect(decodeText(bytes)).toBe('größer');
});

it('returns undefined for a binary file', () => {
  expect(decodeText(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13]))).toBeUndefined();
});
