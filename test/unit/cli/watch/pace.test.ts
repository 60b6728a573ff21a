import { describe, expect, it } from 'vitest';
import {
  adaptiveIntervalMs,
  backoffMs,
  formatDuration,
  parseDuration,
  toMinIntervalMs,
} from '../../../../src/cli/watch/pace.ts';
import type { Item } from '../../../../src/cli/watch/poll.ts';
import { loadConfig } from '../../../../src/config/config.ts';
import { ada, status } from '../../../support/render-posts.ts';

const nowSeconds = 1_800_000_000;

const itemsOf = (ages: readonly number[]): readonly Item[] =>
  ages.map((age, index) => {
    return { post: status(1, ada, ''), key: String(index), seconds: nowSeconds - age * 60 };
  });

describe('the interval', () => {
  it.each([
    ['a tenth of the usual time between posts', [90, 150, 210, 270], 6],
    ['shorter after a new post', [20, 1440, 2880, 4320], 2],
    ['at least a minute', [1, 2, 3, 4], 1],
    ['at most 15 minutes', [5000, 9000, 12_000], 15],
    ['15 minutes without posts', [], 15],
    ['at least a minute for posts of the future', [-50, 100, 200], 1],
  ])('is %s', (_, ages, minutes) => {
    expect(adaptiveIntervalMs(itemsOf(ages), nowSeconds * 1000) / 60_000).toBe(minutes);
  });

  it('fits the allowance', () => {
    const loaded = loadConfig({ PERCH_PUBLIC_ALLOWANCE: '30' });
    if (!loaded.ok) throw new Error();

    expect(toMinIntervalMs(loaded.config, 1)).toBe(2000);
    expect(toMinIntervalMs(loaded.config, 5)).toBe(10_000);
  });
});

it('waits longer after each failure, with a bound and up to a quarter of jitter', () => {
  const none = { fraction: () => 0, bytes: Buffer.alloc };
  const most = { fraction: () => 1, bytes: Buffer.alloc };
  const basics = { firstMs: 1000, maxMs: 60_000 };

  expect([1, 2, 3, 9, 1000].map((failures) => backoffMs({ ...basics, failures }, none))).toEqual([
    1000, 2000, 4000, 60_000, 60_000,
  ]);
  expect(backoffMs({ ...basics, failures: 1 }, most)).toBe(1250);
  const retryAfterSeconds = 1_000_000;
  expect(backoffMs({ ...basics, failures: 1, retryAfterSeconds }, none)).toBe(3_600_000);
});

describe('durations', () => {
  const range = { name: 'every', minMs: 1000, maxMs: 86_400_000 };

  it.each([
    ['1', 1000],
    ['90s', 90_000],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['1d', 86_400_000],
  ])('are parsed: %s', (text, ms) => {
    expect(parseDuration(text, range)).toBe(ms);
  });

  it.each(['', '0', '-1', '1.5m', '25h', '5 m', '5min', '1e3', '9999999999'])(
    'are refused: %j',
    (text) => {
      expect(() => parseDuration(text, range)).toThrow('--every must be a duration from 1s to 1d');
    },
  );

  it.each([
    [1, '1s'],
    [90_000, '90s'],
    [300_000, '5m'],
    [3_600_000, '1h'],
    [86_400_000, '1d'],
  ])('are formatted: %i', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});
