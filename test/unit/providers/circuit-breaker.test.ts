import { describe, expect, it } from 'vitest';
import { createProviderBreakers } from '../../../src/fetching/chain/provider-chain.ts';
import { ProviderError, type ProviderErrorKind } from '../../../src/platforms/provider-error.ts';
import { type BreakerState, CircuitBreaker } from '../../../src/providers/circuit-breaker.ts';
import { createManualClock } from '../../support/manual-clock.ts';

let asked = 0;

/** Asks for something else each time. */
const asking = (signal = new AbortController().signal, subject = `post ${asked++}`) => ({
  signal,
  subject,
});

function setUp() {
  const clock = createManualClock();
  const changes: BreakerState[] = [];
  const gate = new CircuitBreaker({
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
  it('opens after five consecutive failures and then asks nobody', async () => {
    const { gate, fail, succeed } = setUp();

    for (let i = 0; i < 5; i += 1) await fail('unavailable');

    expect(gate.state).toBe('open');
    await expect(succeed()).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('stays closed when only one subject cannot be read, however often it is asked for', async () => {
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
    'stays closed when the answer is %s',
    async (kind) => {
      const { gate, fail } = setUp();

      for (let i = 0; i < 4; i += 1) await fail('malformed');
      await fail(kind);
      for (let i = 0; i < 4; i += 1) await fail('unavailable');

      expect(gate.state).toBe('closed');
    },
  );

  it('lets one query through after 5 s and closes when it is answered', async () => {
    const { gate, clock, changes, fail, succeed } = setUp();
    for (let i = 0; i < 5; i += 1) await fail('unavailable');

    await clock.advance(5000);
    await expect(succeed()).resolves.toBe('found');

    expect(gate.state).toBe('closed');
    expect(changes).toEqual(['open', 'half_open', 'closed']);
  });

  it('closes over a query that is refused for what it says', async () => {
    const { gate, clock, fail, succeed } = setUp();
    for (let i = 0; i < 5; i += 1) await fail('unavailable');
    await clock.advance(5000);

    await fail('rejected');

    expect(gate.state).toBe('closed');
    await expect(succeed()).resolves.toBe('found');
  });

  it('tries with one query at a time while it is half open', async () => {
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

  it('opens once for failures that come together, and stays open no longer for late ones', async () => {
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

  it('takes no outcome from before for that of the probe', async () => {
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

  it('keeps the pause of a throttle that an answer survived', async () => {
    const { gate, succeed } = setUp();

    gate.pause(new ProviderError('throttled', 'Slow.', { retryAfterSeconds: 9 }));

    await expect(succeed()).rejects.toMatchObject({ kind: 'throttled', retryAfterSeconds: 9 });
  });

  it('does not count a caller who left', async () => {
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

describe('the pause that a throttling provider asks for', () => {
  it('keeps it, and tells how long it still is', async () => {
    const { clock, fail, succeed } = setUp();
    await fail('throttled', 17);

    await clock.advance(10_000);
    await expect(succeed()).rejects.toMatchObject({ kind: 'throttled', retryAfterSeconds: 7 });
    await clock.advance(7000);

    await expect(succeed()).resolves.toBe('found');
  });

  it('is 30 s where the provider names none, and never over 5 minutes', async () => {
    const { clock, fail, succeed } = setUp();
    await fail('throttled');
    await expect(succeed()).rejects.toMatchObject({ retryAfterSeconds: 30 });
    await clock.advance(30_000);

    await fail('throttled', 86_400);

    await expect(succeed()).rejects.toMatchObject({ retryAfterSeconds: 300 });
  });
});

describe('the gates of a provider', () => {
  it('keep the pause of a throttle for every kind of query, and let it end', async () => {
    const clock = createManualClock();
    const ask = { post: never, search: never };
    const gates = createProviderBreakers({ ask }, () => ({
      clock,
      failures: 5,
      openMs: 5000,
      maxOpenMs: 30_000,
      onChange: () => undefined,
    }));
    const throttled = new ProviderError('throttled', 'Slow down.', { retryAfterSeconds: 10 });
    await gates.run('search', () => Promise.reject(throttled), asking()).catch(() => undefined);
    const read = () => gates.run('post', async () => 'found', asking());

    for (const ms of [0, 4000, 5000]) {
      await clock.advance(ms);
      await expect(read()).rejects.toMatchObject({ kind: 'throttled' });
    }
    await clock.advance(1000);

    await expect(read()).resolves.toBe('found');
  });

  it('stay open when one of many hosts throttles or fails', async () => {
    const gates = createProviderBreakers({ ask: { post: never } }, () => ({
      clock: createManualClock(),
      failures: 1,
      openMs: 5000,
      maxOpenMs: 30_000,
      onChange: () => undefined,
    }));

    for (const kind of ['throttled', 'unavailable', 'malformed'] as const) {
      const failure = new ProviderError(kind, 'That host is busy.', { isProviderWide: false });
      gates.pause(failure);
      await gates.run('post', () => Promise.reject(failure), asking()).catch(() => undefined);
    }

    expect(gates.broken).toEqual({});
    await expect(gates.run('post', async () => 'found', asking())).resolves.toBe('found');
  });
});

async function never(): Promise<never> {
  throw new Error('Nobody asks.');
}
