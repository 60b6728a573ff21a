// Perch as it is served, or with allowances and keys switched off.
import { buildApp } from '../../dist/app.js';
import { createLogger } from '../../dist/commands/logger.js';
import { createOutput } from '../../dist/commands/output.js';
import { loadConfig } from '../../dist/config.js';
import { systemClock } from '../../dist/core/clock.js';
import { systemRandom } from '../../dist/core/random.js';

const nobody = {
  caller: { share: 'anonymous', spend: async () => ({ giveBack: () => undefined }) },
  isPrivate: false,
  refusal: null,
  headers: () => [],
};
const identification = {
  identify: () => nobody,
  clientOf: () => ({ address: 'bench', network: null }),
};
const { config } = loadConfig(process.env);
const { server } = await buildApp({
  config,
  clock: systemClock,
  random: systemRandom,
  logger: await createLogger('info', createOutput(process.stdout)),
  ...(process.argv[2] === 'off' ? { identification } : {}),
});
process.once('SIGTERM', () => server.close());
await server.listen({ host: config.HOST, port: config.PORT });
