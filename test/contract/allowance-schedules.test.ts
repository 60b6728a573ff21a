import { expect } from 'vitest';
import { buildTestApp, type TestApp } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { createFakeList, fullPages } from '../support/fake-list.ts';
import { fc, runs } from '../support/fast-check.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { type RateLimit, readRateLimit, requestFrom } from '../support/rate-limit.ts';

const windowMs = 60_000;

/** Kind of request: `miss` is a new read each time; `hit` and `past` are in the cache. */
type Kind = 'miss' | 'hit' | 'past' | 'refused' | 'wrong key';

interface Caller {
  readonly name: string;
  readonly policy: 'public' | 'key';
  readonly limit: number;
  readonly from: string;
  readonly headers: Readonly<Record<string, string>>;
}

const env = {
  PERCH_PUBLIC_ALLOWANCE: '4',
  PERCH_KEY_ALLOWANCE: '6',
  // What is warm stays so for the length of a schedule.
  PERCH_CACHE_TTL_SECONDS: '31536000',
};

/** Two addresses, a /64 with two addresses, and three keys that share one address. */
async function openCallers(app: TestApp): Promise<readonly Caller[]> {
  const plain = (from: string, name = from): Caller => ({
    name: `address ${name}`,
    policy: 'public',
    limit: 4,
    from,
    headers: {},
  });
  const keyed = async (allowance: number | null): Promise<Caller> => {
    const { id, headers } = await app.createKey({ allowance });
    const limit = allowance ?? 6;
    return { name: `key ${id}`, policy: 'key', limit, from: '192.0.2.1', headers };
  };
  return [
    plain('192.0.2.1'),
    plain('192.0.2.2'),
    plain('2001:db8:7:1::1', '2001:db8:7:1'),
    plain('2001:db8:7:1:ffff::2', '2001:db8:7:1'),
    await keyed(null),
    await keyed(2),
    await keyed(9),
  ];
}

const callerCount = 7;

/** Windows of the callers, which begin with the first unit: the state of the reference model. */
class Windows {
  readonly #windows = new Map<string, { readonly fromMs: number; spent: number }>();

  pay(caller: Caller, atMs: number): void {
    const { spent } = this.windowOf(caller, atMs);
    if (spent === 0) this.#windows.set(caller.name, { fromMs: atMs, spent: 0 });
    const window = this.#windows.get(caller.name);
    if (window) window.spent += 1;
  }

  /** A caller’s spent units and the milliseconds until they are available again. */
  windowOf({ name }: Caller, nowMs: number): Readonly<Record<'spent' | 'leftMs', number>> {
    const window = this.#windows.get(name);
    const leftMs = window === undefined ? 0 : window.fromMs + windowMs - nowMs;
    if (window === undefined || leftMs <= 0) return { spent: 0, leftMs: windowMs };
    return { spent: window.spent, leftMs };
  }

  /** Whole seconds until a caller has a unit; 0 if one is left. */
  waitOf(caller: Caller, nowMs: number): number {
    const { spent, leftMs } = this.windowOf(caller, nowMs);
    return spent < caller.limit ? 0 : Math.ceil(leftMs / 1000);
  }
}

const step = fc.record({
  caller: fc.nat({ max: callerCount - 1 }),
  kind: fc.constantFrom<Kind>('miss', 'miss', 'miss', 'past', 'hit', 'refused', 'wrong key'),
  pauseMs: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(0, 0, 1, 300, 999, 1000) },
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 15_000 }) },
    { weight: 1, arbitrary: fc.constantFrom(windowMs - 1, windowMs) },
  ),
  /** Whether a refused caller waits, first one second too short and then exactly. */
  waits: fc.nat({ max: 5 }).map((n) => n === 0),
});

interface Schedule {
  readonly app: TestApp;
  readonly clock: ManualClock;
  readonly quotas: Windows;
}

let asked = 0;

function send({ app }: Schedule, { from, headers }: Caller, kind: Kind) {
  asked += 1;
  const wrong = { authorization: `Bearer perch_${'w'.repeat(43)}` };
  switch (kind) {
    case 'miss':
      return requestFrom(app, `/search?q=new${asked}`, { from, headers });
    case 'hit':
      return requestFrom(app, '/search?q=warm', { from, headers });
    case 'past':
      return requestFrom(app, '/search?q=warm&nocache=true', { from, headers });
    case 'refused':
      return requestFrom(app, '/search?q=warm&feed=nonsense', { from, headers });
    case 'wrong key':
      return requestFrom(app, `/search?q=new${asked}`, { from, headers: wrong });
  }
}

/** Status of a request that costs nothing; `null` for one that costs a unit. */
const statusOfFree: Readonly<Record<Kind, number | null>> = {
  miss: null,
  past: null,
  hit: 200,
  refused: 400,
  'wrong key': 401,
};

/** Sends a request, compares the reply with the model, and returns the seconds to wait. */
async function compare(schedule: Schedule, caller: Caller, kind: Kind): Promise<number> {
  const { clock, quotas } = schedule;
  const nowMs = clock.now();
  const free = statusOfFree[kind];
  const waitSeconds = free === null ? quotas.waitOf(caller, nowMs) : 0;

  const reply = await send(schedule, caller, kind);

  expect([kind, reply.statusCode]).toEqual([kind, free ?? (waitSeconds === 0 ? 200 : 429)]);
  expect(reply.headers['retry-after']).toBe(waitSeconds === 0 ? undefined : String(waitSeconds));
  if (free === null && waitSeconds === 0) quotas.pay(caller, nowMs);
  if (kind !== 'wrong key') expect(readRateLimit(reply)).toEqual(tellOf(schedule, caller));
  return waitSeconds;
}

/** Rate limit fields that every reply to a caller must have. */
function tellOf({ quotas, clock }: Schedule, caller: Caller): RateLimit {
  const nowMs = clock.now();
  const { policy, limit } = caller;
  const { spent, leftMs } = quotas.windowOf(caller, nowMs);
  return {
    policy,
    quota: limit,
    windowSeconds: 60,
    remaining: limit - spent,
    resetSeconds: Math.ceil(leftMs / 1000),
  };
}

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

async function takeStep(schedule: Schedule, caller: Caller, { kind, waits }: Step): Promise<void> {
  const waitSeconds = await compare(schedule, caller, kind);
  if (waitSeconds === 0 || !waits) return;
  await schedule.clock.advance((waitSeconds - 1) * 1000);
  expect(await compare(schedule, caller, kind)).toBe(1);
  await schedule.clock.advance(1000);
  expect(await compare(schedule, caller, kind)).toBe(0);
}

async function openSchedule() {
  const clock = createManualClock();
  const app = await buildTestApp({
    providers: [createFakeList(3, fullPages).provider],
    clock,
    env,
  });
  const warming = await requestFrom(app, '/search?q=warm', { from: '198.51.100.9' });
  expect(warming.statusCode).toBe(200);
  return { app, clock, quotas: new Windows(), callers: await openCallers(app) };
}

clause(
  'read.errors.rate_limit',
  'read.limits.exhausted_429_retry_after',
  'read.limits.public_allowance_search_and_browse',
)('match a reference model in 2,000 requests by several callers at random times', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 200, maxLength: 200 }),
    async (steps) => {
      const { callers, ...schedule } = await openSchedule();

      for (const one of steps) {
        await schedule.clock.advance(one.pauseMs);
        // An index of the list.
        await takeStep(schedule, callers[one.caller] as Caller, one);
      }
    },
  );

  await fc.assert(property, { numRuns: runs(10), endOnFailure: true });
});
