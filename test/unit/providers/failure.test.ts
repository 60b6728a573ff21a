import { describe, expect, it } from 'vitest';
import { HttpFailure } from '../../../src/lib/http/http-client.ts';
import { toProviderError, toStatusFailure } from '../../../src/providers/failure.ts';

describe('toProviderError', () => {
  it.each([
    ['timeout', 'unavailable'],
    ['aborted', 'unavailable'],
    ['connect', 'unavailable'],
    ['reset', 'unavailable'],
    ['refused', 'unavailable'],
    ['too_large', 'malformed'],
    ['redirect', 'malformed'],
  ] as const)('converts %s to %s, and keeps the cause', (kind, expected) => {
    const cause = new HttpFailure(kind, 'Secret host.');

    const failure = toProviderError(cause);

    expect(failure).toMatchObject({ kind: expected, cause });
    expect(failure.message).not.toContain('Secret');
  });

  it('reports a refused host as a failure of that host only', () => {
    const failure = toProviderError(new HttpFailure('refused', 'Secret host.'));

    expect(failure.isProviderWide).toBe(false);
  });
});

describe('toStatusFailure', () => {
  it.each([
    [403, 'throttled'],
    [429, 'throttled'],
    [500, 'unavailable'],
    [504, 'unavailable'],
    [200, undefined],
    [404, undefined],
    [418, undefined],
  ])('converts %i to %s', (status, kind) => {
    expect(toStatusFailure(status, undefined)?.kind).toBe(kind);
  });

  it.each([
    [17, 17],
    [0, 0],
    [undefined, undefined],
  ])('limits a wait of %s seconds to %i', (asked, told) => {
    expect(toStatusFailure(429, asked)?.retryAfterSeconds).toBe(told);
  });
});
