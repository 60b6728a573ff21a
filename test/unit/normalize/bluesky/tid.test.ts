import { expect, it } from 'vitest';
import { readTidMs } from '../../../../src/normalize/bluesky/addresses.ts';
import { bskyTid } from '../../../support/bluesky-payloads.ts';

const latest = Date.UTC(2026, 0);

it('reads the time in a record key of Bluesky', () => {
  expect(readTidMs('3jzfcijpj2z2a', latest)).toBe(1688137381887.007);
});

it.each([
  ['is no TID', 'self'],
  ['is from before the first repositories', bskyTid(Date.UTC(2022, 9, 31))],
  ['is too late', bskyTid(latest + 1)],
])('reads no time from a key that %s', (_, key) => {
  expect(readTidMs(key, latest)).toBeNull();
});
