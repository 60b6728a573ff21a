import { systemClock } from '../../src/lib/clock.ts';
import { buildTestApp, type TestApp, type TestAppOptions } from './build-app.ts';
import { type EngineServer, startEngine } from './engine-server.ts';
import { type FakeFxTwitter, startFakeFxTwitter } from './fake-fxtwitter.ts';

/** Several apps with one shared engine and one fake upstream. */
export interface Instances {
  readonly apps: readonly TestApp[];
  readonly fake: FakeFxTwitter;
  /** Returns a random instance. */
  any(): TestApp;
}

/** Starts an engine and `count` instances. All are closed at the end of the test. */
export async function startInstances(
  count: number,
  options: TestAppOptions = {},
): Promise<Instances & { readonly engine: EngineServer }> {
  const engine = await startEngine();
  const instances = await openInstances(Array(count).fill(engine.url), () => options);
  return { ...instances, engine };
}

/** Starts an instance for each URL of an engine. All are closed at the end of the test. */
export async function openInstances(
  urls: readonly string[],
  toOptions: (index: number) => TestAppOptions,
): Promise<Instances> {
  const fake = await startFakeFxTwitter();
  const build = (url: string, { env, ...options }: TestAppOptions) =>
    buildTestApp({
      clock: systemClock,
      ...options,
      env: {
        PERCH_REDIS_URL: url,
        PERCH_REDIS_TIMEOUT_MS: '10000', // a busy machine answers late
        PERCH_PROVIDERS: 'fxtwitter',
        PERCH_FXTWITTER_URL: fake.url,
        PERCH_FXTWITTER_PER_MINUTE: '100000',
        PERCH_POOL_ALLOWANCE: '1000000',
        ...env,
      },
    });
  const apps = await Promise.all(urls.map((url, index) => build(url, toOptions(index))));
  const [first] = apps;
  if (first === undefined) throw new Error('Start at least one instance.');
  const any = () => apps[Math.floor(Math.random() * apps.length)] ?? first;
  return { apps, fake, any };
}
