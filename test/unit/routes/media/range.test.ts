import { expect, it } from 'vitest';
import { parseRange } from '../../../../src/routes/media/send-file.ts';

it.each([
  ['bytes=0-0', { start: 0, end: 0 }],
  ['bytes=2-', { start: 2, end: 9 }],
  ['bytes=2-5', { start: 2, end: 5 }],
  ['bytes=2-99', { start: 2, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-99', { start: 0, end: 9 }],
  [' Bytes=9-9 ', { start: 9, end: 9 }],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=10-11', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-2', null],
  ['bytes=-', null],
  ['bytes=0-1,4-5', null],
  ['bytes=0x1-2', null],
  ['items=0-1', null],
  [`bytes=${'9'.repeat(40)}-`, null],
  [undefined, null],
])('parses %s for a file of 10 bytes', (header, expected) => {
  expect(parseRange(header, 10)).toEqual(expected);
});
