import { expect, it } from 'vitest';
import { readTimeMs, toCreated } from '../../../src/normalize/times.ts';

it.each([
  ['Tue Mar 21 20:50:14 +0000 2006', 1142974214000],
  ['2006-03-21T20:50:14.000Z', 1142974214000],
  ['2006-03-21T21:50:14+01:00', 1142974214000],
  ['2006-03-21T20:50:14', null],
  ['Joined 5', null],
  ['', null],
  ['1969-07-20T20:17:00.000Z', -14182980000],
  ['0001-01-01T00:00:00Z', -62135596800000],
  ['0000-12-31T23:59:59Z', null],
  ['2006-99-21T20:50:14Z', null],
])('readTimeMs parses %o as %o', (text, expected) => {
  expect(readTimeMs(text)).toBe(expected);
});

it('formats times before 1970', () => {
  expect(toCreated(-14_182_979_500)).toEqual({
    created_at: '1969-07-20T20:17:00Z',
    created_timestamp: -14_182_980,
  });
  expect(toCreated(-62_135_596_800_000).created_at).toBe('0001-01-01T00:00:00Z');
});
