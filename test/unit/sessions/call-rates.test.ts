import { expect, it } from 'vitest';
import { createRateLimiter } from '../../../src/access/rate-limits.ts';
import type { Client } from '../../../src/lib/caller.ts';
import { Problem } from '../../../src/lib/problem.ts';
import { createCallRates } from '../../../src/sessions/call-rates.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const ipv4 = (address: string): Client => ({ address, network: null });
const ipv6 = (host: number): Client => ({ address: `a:b:c:${host}`, network: 'a:b:c/48' });

function openRig() {
  const clock = createManualClock();
  const limits = { startsPerMinute: 60, startBurst: 3, messagesPerMinute: 15 };
  const rates = createCallRates(limits, createRateLimiter({ clock }));
  /** Spends until the limit is reached. Returns the number of accepted calls, and the problem. */
  const spendAll = async (spend: () => Promise<void>): Promise<readonly [number, Problem]> => {
    for (let count = 0; count < 1000; count += 1) {
      try {
        await spend();
      } catch (error) {
        if (error instanceof Problem) return [count, error];
        throw error;
      }
    }
    throw new Error('there is no limit');
  };
  return { clock, rates, spendAll };
}

it('limits the starts of an address across bearer tokens', async () => {
  const { clock, rates, spendAll } = openRig();
  let bearers = 0;
  const start = () => {
    bearers += 1;
    return rates.spendStart(`bearer ${bearers}`, ipv4('here'));
  };

  const [count, problem] = await spendAll(start);

  expect([count, problem.retryAfterSeconds]).toEqual([3, 1]);
  expect(problem.message).toBe(
    'One address may start 60 sessions per minute, and 3 at once (`PERCH_SESSION_STARTS_PER_MINUTE`, `PERCH_SESSION_START_BURST`).',
  );
  await clock.advance(999);
  expect((await spendAll(start))[0]).toBe(0);
  await clock.advance(1);
  expect((await spendAll(start))[0]).toBe(1);
});

it('lets no address wait longer if the clock is set back', async () => {
  const { clock, rates, spendAll } = openRig();
  const start = () => rates.spendStart(null, ipv4('here'));
  await spendAll(start);

  await clock.advance(-3_600_000);

  const [count, problem] = await spendAll(start);
  expect([count, problem.retryAfterSeconds]).toEqual([0, 1]);
  await clock.advance(1000);
  expect((await spendAll(start))[0]).toBe(1);
});

it('refuses messages until the window ends, which lasts as long as the rate needs', async () => {
  const { clock, rates, spendAll } = openRig();
  const send = () => rates.spendMessage(ipv4('here'));
  await send();
  await clock.advance(1000);
  await spendAll(send);

  const [count, problem] = await spendAll(send);
  await clock.advance(18_999);
  const [early] = await spendAll(send);
  await clock.advance(1);
  const [inTime] = await spendAll(send);

  expect([count, problem.retryAfterSeconds]).toEqual([0, 19]);
  expect([early, inTime]).toEqual([0, 5]);
});

it('limits the starts of a bearer token across addresses', async () => {
  const { rates, spendAll } = openRig();
  let hosts = 0;

  const [count, problem] = await spendAll(() => {
    hosts += 1;
    return rates.spendStart('bearer', ipv4(`host ${hosts}`));
  });

  expect([count, problem.message]).toEqual([
    12,
    'One bearer may start 240 sessions per minute, and 12 at once (`PERCH_SESSION_STARTS_PER_MINUTE`, `PERCH_SESSION_START_BURST`).',
  ]);
});

it('limits the addresses of an IPv6 network together', async () => {
  const { rates, spendAll } = openRig();
  let hosts = 0;

  const [count, problem] = await spendAll(() => {
    hosts += 1;
    return rates.spendStart(null, ipv6(hosts));
  });

  expect([count, problem.message]).toEqual([
    12,
    'One IPv6 /48 may start 240 sessions per minute, and 12 at once (`PERCH_SESSION_STARTS_PER_MINUTE`, `PERCH_SESSION_START_BURST`).',
  ]);
});

it('counts a start as a message', async () => {
  const { rates, spendAll } = openRig();
  await rates.spendStart(null, ipv4('here'));

  const [count, problem] = await spendAll(() => rates.spendMessage(ipv4('here')));

  expect([count, problem.message]).toEqual([
    4,
    'One address may send 15 messages per minute, and 5 at once (`PERCH_SESSION_TURNS_PER_MINUTE`).',
  ]);
});

it('charges nothing for a refused request', async () => {
  const { rates, spendAll } = openRig();
  await spendAll(() => rates.spendStart(null, ipv4('flood')));

  for (let attempt = 0; attempt < 20; attempt += 1) {
    await expect(rates.spendStart('bearer', ipv4('flood'))).rejects.toThrow(Problem);
  }

  expect((await spendAll(() => rates.spendStart('bearer', ipv4('here'))))[0]).toBe(3);
  expect((await spendAll(() => rates.spendMessage(ipv4('flood'))))[0]).toBe(2);
});
