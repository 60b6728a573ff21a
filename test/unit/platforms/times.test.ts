import { describe, expect, it } from 'vitest';
import { readTimeMs } from '../../../src/platforms/times.ts';

describe('readTimeMs', () => {
  it.each([
    ['Tue Mar 21 20:50:14 +0000 2006', 1142974214000],
    ['2006-03-21T20:50:14.000Z', 1142974214000],
    ['2006-03-21T21:50:14+01:00', 1142974214000],
    ['2006-03-21T20:50:14', null],
    ['Joined 5', null],
    ['', null],
    ['1906-03-21T20:50:14Z', null],
    ['2006-99-21T20:50:14Z', null],
  ])('parses %o as %o', (text, expected) => {
    expect(readTimeMs(text)).toBe(expected);
  });
});
