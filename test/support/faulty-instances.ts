import { expect, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { asAdmin, type TestApp } from './build-app.ts';
import { type EngineServer, startEngine } from './engine-server.ts';
import { type FaultyProxy, openFaultyProxy } from './faulty-proxy.ts';
import { type Instances, openInstances } from './instances.ts';

/** Line of the log of an instance. `time` is in Unix milliseconds. */
type LogLine = Readonly<{ instance: number; level: number; msg: string; time: number }>;

/** Instances with the default timeout of the engine, whose logs are recorded. */
export interface ObservedInstances extends Instances {
  readonly lines: readonly LogLine[];
  /** Advances the clocks of the instances. Their sleeps are not affected. */
  advance(ms: number): void;
}

/** Size of the allowance of an address, and length of its window. */
export const quota = 12;
export const windowMs = 2000;

/** Starts an instance for each URL of an engine, and waits until they share it. They are closed at the end of the test. */
export async function openObservedInstances(
  urls: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ObservedInstances> {
  const lines: LogLine[] = [];
  let offsetMs = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + offsetMs };
  const instances = await openInstances(urls, (instance) => ({
    clock,
    onLog: (line) => void lines.push({ ...JSON.parse(line), instance }),
    env: {
      PERCH_REDIS_TIMEOUT_MS: '50',
      PERCH_PUBLIC_ALLOWANCE: `${quota}`,
      PERCH_KEY_ALLOWANCE: '1000000',
      PERCH_ALLOWANCE_WINDOW_SECONDS: `${windowMs / 1000}`,
      PERCH_SLOW_REQUEST_MS: '600000', // a busy machine answers late
      ...env,
    },
  }));
  await expectShared(instances);
  const advance = (ms: number): void => {
    offsetMs += ms;
  };
  return { ...instances, lines, advance };
}

/** Instances, each with its own proxy to an engine. */
export interface FaultyInstances extends ObservedInstances {
  readonly engine: EngineServer;
  readonly proxies: readonly FaultyProxy[];
}

/** Starts an engine, and `count` instances with a proxy each. All are closed at the end of the test. */
export async function startFaultyInstances(
  count: number,
  env: Readonly<Record<string, string>> = {},
): Promise<FaultyInstances> {
  const engine = await startEngine('--appendfsync', 'everysec'); // a busy disk answers late
  const opening = Array.from({ length: count }, () => openFaultyProxy(engine.port));
  const proxies = await Promise.all(opening);
  onTestFinished(() => {
    for (const proxy of proxies) proxy.close();
  });
  const urls = proxies.map(({ url }) => url);
  return { ...(await openObservedInstances(urls, env)), engine, proxies };
}

/** Number that makes addresses and searches of a test file unique. */
let unique = 0;

/** Returns the URL of a search that no cache can answer. */
export function newSearch(): string {
  unique += 1;
  return `/api/v1/search?q=word${unique}`;
}

/** Returns an address that has spent nothing. */
export function newAddress(): string {
  unique += 1;
  return `10.${(unique >> 16) & 255}.${(unique >> 8) & 255}.${unique & 255}`;
}

/** Sends more searches to each instance than an allowance admits. Returns how many were admitted; the others are 429. */
export async function countAdmitted(apps: readonly TestApp[], from: string): Promise<number> {
  const all = Array.from({ length: quota + 1 }, () => apps).flat();
  const replies = await Promise.all(
    all.map(({ server }) => server.inject({ url: newSearch(), remoteAddress: from })),
  );
  const codes = replies.map(({ statusCode }) => statusCode);
  expect(codes.filter((code) => code !== 200 && code !== 429)).toEqual([]);
  return codes.filter((code) => code === 200).length;
}

/** Waits until all instances count each other, share allowances, and notice the changes of a key at once. */
export async function expectShared({ apps }: Pick<Instances, 'apps'>): Promise<void> {
  const readStates = () => Promise.all(apps.map(readEngineState));
  const shared = apps.map(() => ({ state: 'up', instances: apps.length }));
  await expect.poll(readStates).toMatchObject(shared);
  await expect.poll(() => countAdmitted(apps, newAddress())).toBe(quota);
  await expect.poll(() => disableKey(apps)).toEqual(apps.map(() => 401));
}

async function readEngineState({ server }: TestApp): Promise<unknown> {
  const reply = await server.inject({ url: '/health/ready' });
  return reply.json().shared_engine;
}

/** Creates and disables a key at one instance. Returns the status codes that all instances then answer it with. */
async function disableKey(apps: readonly TestApp[]): Promise<readonly number[]> {
  const [first] = apps;
  if (first === undefined) return [];
  const { id, headers } = await first.createKey();
  await first.server.inject({
    url: `/api/admin/keys/${id}`,
    method: 'PATCH',
    headers: { ...asAdmin, 'content-type': 'application/json' },
    payload: '{"enabled":false}',
  });
  const url = '/api/v1/profiles/x';
  const replies = await Promise.all(apps.map(({ server }) => server.inject({ url, headers })));
  return replies.map(({ statusCode }) => statusCode);
}

/** Returns the status code and the key status of a read with a key, at each instance. */
export function readStatuses(
  { apps }: Pick<Instances, 'apps'>,
  headers: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const read = async (app: TestApp): Promise<string> => {
    const reply = await app.request('/api/v1/profiles/x', { headers });
    return `${reply.statusCode} ${reply.headers['x-api-key-status']}`;
  };
  return Promise.all(apps.map(read));
}

/** Returns the lines that an instance repeated within a second. Debug lines are not logged by default. */
export function findRepeated({ lines }: Pick<ObservedInstances, 'lines'>): readonly LogLine[] {
  const last = new Map<string, number>();
  return lines.filter(({ instance, level, msg, time }) => {
    const name = `${instance} ${msg}`;
    const beforeMs = time - (last.get(name) ?? 0);
    last.set(name, time);
    return level >= 30 && beforeMs < 1000;
  });
}

/** Failure of an engine. */
export interface Outage {
  fail(): Promise<void> | void;
  mend(): Promise<void> | void;
  /** Result of `readStatuses` for a key that no instance has seen before the failure. */
  readonly unseen: RegExp;
}

/** Checks that reads go on while an engine fails, and that the instances share it again afterwards. */
export async function expectReadsDuring(
  { fail, mend, unseen }: Outage,
  instances: ObservedInstances,
): Promise<void> {
  const { apps, any, fake } = instances;
  const [known, other] = [await any().createKey(), await any().createKey()];
  const valid = apps.map(() => '200 valid');
  await expect.poll(() => readStatuses(instances, known.headers)).toEqual(valid);

  await fail();

  expect(await readStatuses(instances, known.headers)).toEqual(valid);
  for (const status of await readStatuses(instances, other.headers)) expect(status).toMatch(unseen);
  fake.addAccount('new');
  for (const app of apps) {
    const replies = ['x', 'new', 'new'].map((handle) => app.request(`/api/v1/profiles/${handle}`));
    for (const { statusCode } of await Promise.all(replies)) expect(statusCode).toBe(200);
  }
  await expect.poll(() => countAdmitted(apps, newAddress())).toBe(quota);
  await mend();
  await expectShared(instances);
  await expect.poll(() => readStatuses(instances, other.headers)).toEqual(valid);
  expect(findRepeated(instances)).toEqual([]);
}
