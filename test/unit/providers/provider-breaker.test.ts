import { describe, expect, it } from 'vitest';
import { createProviderBreakers } from '../../../src/fetching/chain/provider-chain.ts';
import type { BreakerState } from '../../../src/lib/breaker.ts';
import { ProviderError, type ProviderErrorKind } from '../../../src/normalize/provider-error.ts';
import { createProviderBreaker } from '../../../src/providers/provider-breaker.ts';
import { createManualClock } from '../../support/manual-clock.ts';

let requests = 0;

const asking = (signal = new AbortController().signal, subject = `post ${requests++}`) => ({
  signal,
  subject,
});

function setUp() {
  const clock = createManualClock();
  const changes: BreakerState[] = [];
  const gate = createProviderBreaker({
    clock,
    failures: 5,
    openMs: 5000,
    maxOpenMs: 30_000,
    onChange: (state) => changes.push(state),
  });
  const fail = (kind: ProviderErrorKind, retryAfterSeconds?: number) =>
    gate
      .run(() => Promise.reject(new ProviderError(kind, 'No.', { retryAfterSeconds })), asking())
      .catch((error: ProviderError) => error);
  const succeed = () => gate.run(async () => 'found', asking());
  return { clock, changes, gate, fail, succeed };
}

describe('the circuit breaker', () => {
  it('opens after five consecutive failures and then refuses queries', async () => {
    const { gate, fail, succeed } = setUp();

    for (let i = 0; i < 5; i += 1) await fail('unavailable');

    expect(gate.state).toBe('open');
    await expect(succeed()).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('tells why and for how long it refuses queries', async () => {
    const { clock, gate, fail, succeed } = setUp();

    expect(gate.hold()).toBeNull();
    for (let i = 0; i < 5; i += 1) await fail('unavailable');
    await clock.advance(2000);
    expect(gate.hold()).toEqual({ reason: 'failures', waitMs: 3000 });
    await clock.advance(4000);
    expect(gate.hold()).toEqual({ reason: 'failures', waitMs: 0 });
    await succeed();
    expect(gate.hold()).toBeNull();
    await fail('throttled', 20);
    await clock.advance(5000);

    expect(gate.hold()).toEqual({ reason: 'rate limit', waitMs: 15_000 });
  });

  it('pauses no longer if the clock is set back', async () => {
    const { clock, gate, fail, succeed } = setUp();
    await fail('throttled', 20);

    await clock.advance(-3_600_000);

    expect(gate.hold()).toEqual({ reason: 'rate limit', waitMs: 20_000 });
    await clock.advance(20_000);
    await expect(succeed()).resolves.toBe('found');
  });

  it('stays closed if only one subject is malformed, however often it is requested', async () => {
    const { gate } = setUp();
    const failWith = (subject: string) =>
      gate
        .run(
          () => Promise.reject(new ProviderError('malformed', 'No.')),
          asking(undefined, subject),
        )
        .catch(() => undefined);

    for (let i = 0; i < 20; i += 1) await failWith('one post');
    expect(gate.state).toBe('closed');
    for (let i = 0; i < 4; i += 1) await failWith(`another ${i}`);

    expect(gate.state).toBe('open');
  });

  it.each(['missing', 'ambiguous', 'rejected'] as const)(
    'stays closed if the response is %s',
    async (kind) => {
      const { gate, fail } = setUp();

      for (let i = 0; i < 4; i += 1) await fail('malformed');
      await fail(kind);
      for (let i = 0; i < 4; i += 1) await fail('unavailable');

      expect(gate.state).toBe('closed');
    },
  );

  it('lets one query through after 5 s and closes if that succeeds', async () => {
    const { gate, clock, changes, fail, succeed } = setUp();
    for (let i = 0; i < 5; i += 1) await fail('unavailable');

    await clock.advance(5000);
    await expect(succeed()).resolves.toBe('found');

    expect(gate.state).toBe('closed');
    expect(changes).toEqual(['open', 'half_open', 'closed']);
  });

  it('closes after a query that is rejected for its content', async () => {
    const { gate, clock, fail, succeed } = setUp();
    for (let i = 0; i < 5; i += 1) await fail('unavailable');
    await clock.advance(5000);

    await fail('rejected');

    expect(gate.state).toBe('closed');
    await expect(succeed()).resolves.toBe('found');
  });

  it('lets one query at a time through while it is half open', async () => {
    const { clock, gate, fail, succeed } = setUp();
    for (let i = 0; i < 5; i += 1) await fail('unavailable');
    await clock.advance(5000);

    let answer: (found: string) => void = () => undefined;
    const probe = gate.run(() => new Promise<string>((resolve) => (answer = resolve)), asking());
    await expect(succeed()).rejects.toMatchObject({ kind: 'unavailable' });
    answer('found');

    await expect(probe).resolves.toBe('found');
    await expect(succeed()).resolves.toBe('found');
  });

  it('doubles the time from 5 s to at most 30 s', async () => {
    const { gate, clock, fail } = setUp();
    for (let i = 0; i < 5; i += 1) await fail('unavailable');

    for (const ms of [5000, 10_000, 20_000, 30_000, 30_000]) {
      await clock.advance(ms - 1);
      await fail('unavailable');
      expect(gate.state).toBe('open');
      await clock.advance(1);
      const failure = await fail('malformed');
      expect(failure).toMatchObject({ kind: 'malformed' });
    }
  });

  it('opens once for concurrent failures, and ignores late ones', async () => {
    const { gate, clock, succeed } = setUp();
    const rejections: ((error: Error) => void)[] = [];
    const calls = Array.from({ length: 100 }, () =>
      gate
        .run(() => new Promise((_resolve, reject) => rejections.push(reject)), asking())
        .catch(() => undefined),
    );

    for (const reject of rejections.slice(0, 90)) reject(new ProviderError('unavailable', 'No.'));
    await Promise.all(calls.slice(0, 90));
    await clock.advance(4900);
    for (const reject of rejections.slice(90)) reject(new ProviderError('unavailable', 'No.'));
    await Promise.all(calls);
    await clock.advance(100);

    await expect(succeed()).resolves.toBe('found');
  });

  it('ignores outcomes of earlier queries during the probe', async () => {
    const { gate, clock, fail, succeed } = setUp();
    let endOld: (error: Error) => void = () => undefined;
    const old = gate
      .run(() => new Promise((_resolve, reject) => (endOld = reject)), asking())
      .catch(() => undefined);
    for (let i = 0; i < 5; i += 1) await fail('unavailable');
    await clock.advance(5001);
    let endProbe: (found: string) => void = () => undefined;
    const probe = gate.run(() => new Promise<string>((resolve) => (endProbe = resolve)), asking());

    endOld(new ProviderError('missing', 'Gone.'));
    await old;

    expect(gate.state).toBe('half_open');
    await expect(succeed()).rejects.toMatchObject({ kind: 'unavailable' });
    endProbe('found');
    await expect(probe).resolves.toBe('found');
    expect(gate.state).toBe('closed');
  });

  it('observes the pause of a throttled part of a read', async () => {
    const { gate, succeed } = setUp();

    gate.pause(9000);

    await expect(succeed()).rejects.toMatchObject({ kind: 'throttled', retryAfterSeconds: 9 });
  });

  it('does not count a caller that disconnects', async () => {
    const { gate } = setUp();
    const left = AbortSignal.abort();

    for (let i = 0; i < 9; i += 1) {
      await gate
        .run(() => Promise.reject(new ProviderError('unavailable', 'No.')), asking(left))
        .catch(() => undefined);
    }

    expect(gate.state).toBe('closed');
  });
});

describe('the pause of a throttling provider', () => {
  it('is observed, and its remaining time reported', async () => {
    const { clock, fail, succeed } = setUp();
    await fail('throttled', 17);

    await clock.advance(10_000);
    await expect(succeed()).rejects.toMatchObject({ kind: 'throttled', retryAfterSeconds: 7 });
    await clock.advance(7000);

    await expect(succeed()).resolves.toBe('found');
  });

  it('is 30 s by default, and at most 5 minutes', async () => {
    const { clock, fail, succeed } = setUp();
    await fail('throttled');
    await expect(succeed()).rejects.toMatchObject({ retryAfterSeconds: 30 });
    await clock.advance(30_000);

    await fail('throttled', 86_400);

    await expect(succeed()).rejects.toMatchObject({ retryAfterSeconds: 300 });
  });
});

describe('the breakers of a provider', () => {
  it('observe a pause for every kind of query, until it ends', async () => {
    const clock = createManualClock();
    const ask = { post: never, search: never };
    const gates = createProviderBreakers({ fetch: ask }, () => ({
      clock,
      failures: 5,
      openMs: 5000,
      maxOpenMs: 30_000,
      onChange: () => undefined,
    }));
    const throttled = new ProviderError('throttled', 'Slow down.', { retryAfterSeconds: 10 });
    gates.pause(throttled);
    const read = () => gates.of('post').run(async () => 'found', asking());

    for (const ms of [0, 4000, 5000]) {
      await clock.advance(ms);
      await expect(read()).rejects.toMatchObject({ kind: 'throttled' });
    }
    await clock.advance(1000);

    await expect(read()).resolves.toBe('found');
  });

  it('stay closed if one of many hosts throttles or fails', async () => {
    const gates = createProviderBreakers({ fetch: { post: never } }, () => ({
      clock: createManualClock(),
      failures: 1,
      openMs: 5000,
      maxOpenMs: 30_000,
      onChange: () => undefined,
    }));

    for (const kind of ['throttled', 'unavailable', 'malformed'] as const) {
      const failure = new ProviderError(kind, 'That host is busy.', { isProviderWide: false });
      gates.pause(failure);
      const read = () => Promise.reject(failure);
      await gates
        .of('post')
        .run(read, asking())
        .catch(() => undefined);
    }

    expect(gates.broken).toEqual({});
    await expect(gates.of('post').run(async () => 'found', asking())).resolves.toBe('found');
  });
});

async function never(): Promise<never> {
  throw new Error('Nobody asks.');
}
