import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { openHttpClient } from '../../src/lib/http/http-client.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { createHeavyTurns, createServerLoop } from '../../src/lib/scheduling/fair-queue.ts';
import { createActivityPub } from '../../src/providers/activitypub/index.ts';
import { createHostLimits } from '../../src/providers/hosts.ts';
import { createMastodon } from '../../src/providers/mastodon/index.ts';
import { buildTestApp, type TestApp } from './build-app.ts';
import type { FakeHandler, FakeUpstream } from './fake-upstream.ts';
import { upstream } from './listen.ts';
import { homeHost } from './mastodon-payloads.ts';
import { openGates } from './mastodon-rig.ts';
import { serveHosts, withPublicHosts } from './public-http.ts';

/** App with the providers of fediverse servers, and the fake upstream for all their hosts. */
export interface MastodonApp {
  readonly app: TestApp;
  readonly fake: FakeUpstream;
}

/** Differences from the default test app. */
export interface MastodonAppOptions {
  /** Default: circuit breakers that never open. */
  readonly gates?: Omit<Parameters<typeof createHostLimits>[0], 'clock'>;
  /** Timeout in milliseconds for one request to a server. */
  readonly attemptTimeoutMs?: number;
}

/** Builds an app that reads these hosts. It is closed at the end of the test. */
export async function buildMastodonApp(
  hosts: Readonly<Record<string, FakeHandler>>,
  env: Readonly<Record<string, string>> = {},
  { gates = openGates, attemptTimeoutMs = 5000 }: MastodonAppOptions = {},
): Promise<MastodonApp> {
  const fake = await upstream(serveHosts(hosts));
  const http = openHttpClient({
    connectTimeoutMs: 2000,
    attemptTimeoutMs,
    maxBytes: 8_388_608,
    userAgent: 'Perch-tests/1.0 (+https://perch.example/)',
    clock: systemClock,
    random: systemRandom,
    heavyTurns: createHeavyTurns(createServerLoop()),
  });
  onTestFinished(() => http.close());
  const shared = {
    http: withPublicHosts(http, fake.url),
    clock: systemClock,
    callHost: createHostLimits({ ...gates, clock: systemClock }),
  };
  const app = await buildTestApp({
    env: { PERCH_PUBLIC_ALLOWANCE: '1000000', PERCH_POOL_ALLOWANCE: '1000000', ...env },
    providers: [
      createMastodon({ ...shared, searchHost: homeHost }),
      createActivityPub({ ...shared, readTimeoutMs: 20_000 }),
    ],
  });
  return { app, fake };
}
