import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import type { TestApp } from '../../support/build-app.ts';
import { describeWithEngine, runEngineCli } from '../../support/engine-server.ts';
import { hang } from '../../support/fake-upstream.ts';
import {
  countAdmitted,
  expectShared,
  type FaultyInstances,
  findRepeated,
  newAddress,
  newSearch,
  quota,
  readStatuses,
  startFaultyInstances,
  windowMs,
} from '../../support/faulty-instances.ts';
import { type Span, shake } from '../../support/faulty-proxy.ts';
import { bearer, unknownKey } from '../../support/key-callers.ts';
import { isLongRun } from '../../support/long-run.ts';

const shakeMs = isLongRun ? 300_000 : 6000;

/** Milliseconds after a fault in which an instance may still count by itself, also on a busy machine. */
const recoveryMs = 5000;

/** Load that runs until it is stopped. */
type Load = Readonly<{ stop: () => Promise<void> }>;

/** Calls `work` with a new number again and again, with pauses of up to `pauseMs` milliseconds. */
function repeat(pauseMs: number, work: (number: number) => Promise<void>): Load {
  let isStopped = false;
  const run = async (): Promise<void> => {
    for (let number = 0; !isStopped; number += 1) {
      await work(number);
      await systemClock.sleep(Math.random() * pauseMs);
    }
  };
  const running = run();
  running.catch(() => {}); // reported by `stop`
  return {
    stop: () => {
      isStopped = true;
      return running;
    },
  };
}

/** Requests spend by one address, as of `performance.now()`. */
type Admitted = Readonly<{ sentMs: number; repliedMs: number }>;

/** Returns the span of the first `limit + 1` requests that were certainly admitted within one window and in no fault. */
function findExcess(
  admitted: readonly Admitted[],
  limit: number,
  spans: readonly Span[] = [],
): Span | undefined {
  const sorted = admitted.toSorted((a, b) => a.repliedMs - b.repliedMs);
  const windows = sorted.slice(limit).map(({ repliedMs }, at) => {
    const group = sorted.slice(at, at + limit + 1);
    return { fromMs: Math.min(...group.map(({ sentMs }) => sentMs)), toMs: repliedMs };
  });
  return windows.find(
    ({ fromMs, toMs }) =>
      toMs - fromMs < windowMs &&
      !spans.some((span) => span.fromMs < toMs && fromMs < span.toMs + recoveryMs),
  );
}

/** Records the spans in which this process was too busy for timers, which can make the engine seem late. */
function watchTimers() {
  const late: Span[] = [];
  let fromMs = performance.now();
  const timer = setInterval(() => {
    const toMs = performance.now();
    if (toMs - fromMs > 20) late.push({ fromMs, toMs });
    fromMs = toMs;
  }, 5);
  onTestFinished(() => clearInterval(timer));
  return late;
}

/** Lets an address spend more than its allowance at all instances. */
function spendFrom(address: string, { any }: FaultyInstances) {
  const admitted: Admitted[] = [];
  const load = repeat(40, async () => {
    const sentMs = performance.now();
    const { statusCode } = await any().request(newSearch(), { remoteAddress: address });
    expect([200, 429]).toContain(statusCode);
    if (statusCode === 200) admitted.push({ sentMs, repliedMs: performance.now() });
  });
  return { admitted, ...load };
}

describeWithEngine('instances whose connections to the engine fail', () => {
  it('answer reads, and admit at most two windows of each count, while faults come and go', {
    timeout: shakeMs + 180_000,
  }, async () => {
    const rig = await startFaultyInstances(3);
    const { apps, any, fake, proxies } = rig;
    fake.addAccount('wren');
    fake.addTimeline('wren', { length: 30 });
    fake.addConnections('wren', { kind: 'followers', length: 200 });
    const { headers } = await any().createKey();
    const readWith = async (url: string) => {
      const reply = await any().request(url, { headers });
      expect(reply.statusCode).toBe(200);
      return reply;
    };
    // On a busy machine, the first check of a key can take longer than a read waits.
    const allValid = apps.map(() => '200 valid');
    await expect.poll(() => readStatuses(rig, headers)).toEqual(allValid);
    const lateTimers = watchTimers();
    const spenders = [newAddress(), newAddress()].map((address) => spendFrom(address, rig));
    const readers = [
      repeat(50, async () => {
        const reply = await any().request('/api/v1/profiles/wren');
        expect(reply.statusCode).toBe(200);
      }),
      repeat(50, async () => {
        const reply = await readWith('/api/v1/profiles/wren');
        expect(reply.headers['x-api-key-status']).toBe('valid');
      }),
      repeat(200, async (number) => {
        fake.addAccount(`new${number}`);
        const replies = await Promise.all(
          apps.map((app) => app.request(`/api/v1/profiles/new${number}`, { headers })),
        );
        expect(new Set(replies.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
      }),
      repeat(50, async () => {
        const found: string[] = [];
        let cursor = '';
        do {
          const url = '/api/v1/profiles/wren/followers?format=json&limit=50';
          const page = (await readWith(cursor === '' ? url : `${url}&cursor=${cursor}`)).json();
          found.push(...page.users.map(({ id }: { id: string }) => id));
          cursor = encodeURIComponent(page.nextCursor ?? '');
        } while (cursor !== '');
        expect(found).toHaveLength(200);
        expect(new Set(found).size).toBe(200);
      }),
    ];

    const shaken = await shake(proxies, shakeMs);

    await expectShared(rig);
    await Promise.all([...spenders, ...readers].map(({ stop }) => stop()));
    // On a busy machine, the engine can be late without a fault of the proxies.
    const spans = [...shaken, ...lateTimers, ...proxies.flatMap(({ late }) => late)];
    for (const { admitted } of spenders) {
      expect(admitted.length).toBeGreaterThan(quota);
      // Two windows may meet in each period, of the engine and of the instances.
      expect(findExcess(admitted, 4 * quota)).toBeUndefined();
      expect(findExcess(admitted, 2 * quota, spans)).toBeUndefined();
    }
    expect(findRepeated(rig)).toEqual([]);
  });

  it.each(['cut', 'drop', 'half-open'] as const)(
    'keep the status of keys for 30 seconds, divide allowances, and recover (%s)',
    async (fault) => {
      const rig = await startFaultyInstances(2);
      const { apps, any, proxies, advance } = rig;
      const [known, other] = [await any().createKey(), await any().createKey()];
      const unknown = bearer(unknownKey);
      const otherUnknown = bearer(`perch_${'v'.repeat(43)}`);
      const statuses = (headers: Record<string, string>) => readStatuses(rig, headers);
      const atAll = (text: string) => apps.map(() => text);
      await expect.poll(() => statuses(known.headers)).toEqual(atAll('200 valid'));
      await expect.poll(() => statuses(unknown)).toEqual(atAll('401 invalid'));

      for (const proxy of proxies) proxy.set(fault);

      expect(await statuses(known.headers)).toEqual(atAll('200 valid'));
      expect(await statuses(unknown)).toEqual(atAll('401 invalid'));
      expect(await statuses(other.headers)).toEqual(atAll('200 unverified'));
      expect(await statuses(otherUnknown)).toEqual(atAll('200 unverified'));
      await expect.poll(() => countAdmitted(apps, newAddress())).toBe(quota);
      advance(31_000);
      expect(await statuses(known.headers)).toEqual(atAll('200 unverified'));
      expect(await statuses(unknown)).toEqual(atAll('200 unverified'));
      for (const proxy of proxies) proxy.set(null);
      await expectShared(rig);
      await expect.poll(() => statuses(other.headers)).toEqual(atAll('200 valid'));
    },
  );

  it('do not wait for an instance that has lost the engine while it fetches', async () => {
    const { any, apps, engine, fake, proxies } = await startFaultyInstances(2, {
      PERCH_ATTEMPT_TIMEOUT_MS: '60000',
      PERCH_READ_TIMEOUT_MS: '60000',
    });
    const [lost, other] = apps;
    const { headers } = await any().createKey();
    const read = async (app: TestApp | undefined, handle: string) =>
      (await app?.request(`/api/v1/profiles/${handle}`, { headers }))?.statusCode;
    const leases = () => runEngineCli('-p', `${engine.port}`, 'keys', 'perch:lease:*');
    // The first instance takes a lease, unless the engine is late.
    let handle = '';
    const release = fake.interrupt((url) => url.includes('held'), hang);
    await expect
      .poll(async () => {
        handle = `held${fake.requests.length}`;
        fake.addAccount(handle);
        void read(lost, handle).catch(() => {});
        await expect.poll(() => fake.requests.at(-1)?.url).toContain(handle);
        return leases();
      })
      .not.toBe('\n');
    release();
    proxies[0]?.set('drop');

    const first = await Promise.race([
      read(other, handle),
      read(lost, handle).then(() => 'the instance that has lost the engine'),
    ]);

    expect(first).toBe(200);
  });

  it('announce a deleted account to the others after an outage', async () => {
    const { apps, fake, proxies } = await startFaultyInstances(2);
    const [one, two] = apps;
    const read = async (app = one, query = '') =>
      (await app?.request(`/api/v1/profiles/wren${query}`))?.statusCode;
    fake.addAccount('wren');
    expect([await read(one), await read(two)]).toEqual([200, 200]);
    for (const proxy of proxies) proxy.set('cut');
    fake.removeAccount('wren');
    expect(await read(one, '?nocache=true')).toBe(404);
    expect(await read(two)).toBe(200);

    for (const proxy of proxies) proxy.set(null);

    await expect.poll(() => read(two)).toBe(404);
  });
});
