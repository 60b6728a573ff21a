// Perch with default settings, or with allowances and keys turned off.

import { createLogger } from '../../src/cli/logger.ts';
import { createOutput } from '../../src/cli/output/output.ts';
import { loadConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { buildApp } from '../../src/server/build-app.ts';

const nobody = {
  caller: { share: 'anonymous', spend: async () => ({ refund: () => undefined }) },
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
