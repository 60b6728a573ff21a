import { type App, buildApp } from '../app.ts';
import { systemClock } from '../core/clock.ts';
import { systemRandom } from '../core/random.ts';
import {
  type Command,
  type CommandContext,
  type ExitCode,
  exitCodes,
  UsageError,
} from './command.ts';
import { explainOpening } from './explain.ts';
import { createLogger } from './logger.ts';
import { shutDown } from './shutdown.ts';

/**
 * How many connections may wait to be accepted; the system may allow fewer. Beyond Node's 511 a client
 * that comes with a thousand others tries again after a second, or three.
 */
const backlog = 4096;

/** `perch serve`: the server, until SIGTERM or SIGINT. */
export const serveCommand: Command = {
  usage: 'serve',
  summary:
    'Serves until SIGTERM or SIGINT. Settings are environment variables; see docs/configuration.md.',
  run: async (args, context) => {
    if (args.length > 0) throw new UsageError(`serve takes no arguments, not ${args.join(' ')}`);
    return serve(context);
  },
};

async function serve({ config, stdout, stderr }: CommandContext): Promise<ExitCode> {
  const logger = await createLogger(config.LOG_LEVEL, stdout);
  const stopped = onceStopped();
  let app: App;
  try {
    app = await buildApp({ config, logger, clock: systemClock, random: systemRandom });
    await app.server.listen({ host: config.HOST, port: config.PORT, backlog });
  } catch (error) {
    stderr.write(`perch: cannot start: ${explainOpening(error, config)}\n`);
    return exitCodes.usage;
  }
  logger.info({ base_url: config.PERCH_BASE_URL, providers: config.PERCH_PROVIDERS }, 'ready');
  const signal = await stopped;
  logger.info({ signal }, 'draining');
  await shutDown(app, {
    clock: systemClock,
    graceMs: config.PERCH_SHUTDOWN_GRACE_MS,
    drainMs: config.PERCH_SHUTDOWN_DRAIN_MS,
  });
  logger.info('stopped');
  return exitCodes.ok;
}

function onceStopped(): Promise<string> {
  return new Promise((resolve) => {
    // Later signals find the process stopping already: they change nothing.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal));
  });
}
