// Perch with default settings, except that one server on loopback replaces all upstreams, also for hosts in requests.
import { connect } from 'node:net';
import { createLogger } from '../../src/cli/logger.ts';
import { createOutput } from '../../src/cli/output/output.ts';
import { shutDown } from '../../src/cli/serve.ts';
import { loadConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { buildApp } from '../../src/server/build-app.ts';

const { UPSTREAM_PORT, ...env } = process.env;
const loaded = loadConfig(env);
if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
const { config } = loaded;

/** Network in which all public host names resolve to the upstream, without TLS. */
const network = {
  resolve: async () => ['192.88.98.1'],
  connect: ({ signal }) =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: Number(UPSTREAM_PORT) });
      const stop = () => socket.destroy(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        signal.removeEventListener('abort', stop);
        resolve({ socket, address: '192.88.98.1' });
      });
    }),
};

const app = await buildApp({
  config,
  clock: systemClock,
  random: systemRandom,
  logger: await createLogger('info', createOutput(process.stdout)),
  network,
});
process.once('SIGTERM', () => {
  void shutDown(app, { clock: systemClock, graceMs: 7000, drainMs: 0 });
});
await app.server.listen({ host: config.HOST, port: config.PORT, backlog: 4096 });
