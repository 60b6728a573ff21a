// Perch as it is served, but its upstreams are one server on loopback, also for hosts that requests name.
import { connect } from 'node:net';
import { buildApp } from '../../dist/app.js';
import { createLogger } from '../../dist/commands/logger.js';
import { createOutput } from '../../dist/commands/output.js';
import { shutDown } from '../../dist/commands/shutdown.js';
import { loadConfig } from '../../dist/config.js';
import { systemClock } from '../../dist/core/clock.js';
import { openHttpClient } from '../../dist/core/http-client.js';
import { openPublicHttpClient } from '../../dist/core/public-http-client.js';
import { systemRandom } from '../../dist/core/random.js';
import { providerFactories } from '../../dist/providers/registry.js';

const { UPSTREAM_PORT, ...env } = process.env;
const loaded = loadConfig(env);
if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
const { config } = loaded;

/** Every public name leads to the upstream, by a connection without TLS. */
const network = {
  resolve: async () => ['192.88.98.1'],
  connect: ({ signal }) =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: Number(UPSTREAM_PORT), signal });
      socket.once('error', reject);
      socket.once('connect', () => resolve({ socket, address: '192.88.98.1' }));
    }),
};

const limits = {
  connectTimeoutMs: config.PERCH_CONNECT_TIMEOUT_MS,
  attemptTimeoutMs: config.PERCH_ATTEMPT_TIMEOUT_MS,
  maxBytes: config.PERCH_UPSTREAM_MAX_BYTES,
  userAgent: config.PERCH_USER_AGENT,
  clock: systemClock,
  random: systemRandom,
};
const http = openHttpClient(limits);
const publicHttp = openPublicHttpClient(limits, network);
const settings = {
  http,
  publicHttp,
  clock: systemClock,
  baseUrl: config.PERCH_BASE_URL,
  archivePath: ':memory:',
  sample: true,
  fxtwitterUrl: config.PERCH_FXTWITTER_URL,
  fxtwitterPerMinute: config.PERCH_FXTWITTER_PER_MINUTE,
  syndicationUrl: config.PERCH_SYNDICATION_URL,
  blueskyUrl: config.PERCH_BLUESKY_URL,
  blueskySearchUrl: config.PERCH_BLUESKY_SEARCH_URL,
  mastodonSearchHost: config.PERCH_MASTODON_SEARCH_HOST,
  readTimeoutMs: config.PERCH_READ_TIMEOUT_MS,
  breaker: {
    failures: config.PERCH_BREAKER_FAILURES,
    openMs: config.PERCH_BREAKER_SECONDS * 1000,
    maxOpenMs: config.PERCH_BREAKER_MAX_SECONDS * 1000,
  },
  maxPerHost: config.PERCH_UPSTREAM_READS_PER_HOST,
};

const app = await buildApp({
  config,
  clock: systemClock,
  random: systemRandom,
  logger: await createLogger('info', createOutput(process.stdout)),
  providers: config.PERCH_PROVIDERS.map((name) => providerFactories[name](settings)),
});
process.once('SIGTERM', () => {
  void shutDown(app, { clock: systemClock, graceMs: 7000, drainMs: 0 }).then(async () => {
    await Promise.all([http.close(), publicHttp.close()]);
  });
});
await app.server.listen({ host: config.HOST, port: config.PORT, backlog: 4096 });
