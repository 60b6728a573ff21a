import { type App, buildApp } from '../app.ts';
import { systemClock } from '../core/clock.ts';
import { systemRandom } from '../core/random.ts';
import { parseCommandArgs } from './arguments.ts';
import {
  type Command,
  type CommandContext,
  type CommandOptions,
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

const serveOptions = {
  port: { type: 'string', value: 'PORT', about: 'The port to listen on, in place of PORT.' },
  host: { type: 'string', value: 'HOST', about: 'The address to listen on, in place of HOST.' },
} as const satisfies CommandOptions;

/** `perch serve`: the server, until SIGTERM or SIGINT. */
export const serveCommand: Command = {
  usage: 'serve [--port PORT] [--host HOST]',
  about:
    'Serves until SIGTERM or SIGINT. Settings are environment variables; see docs/configuration.md.',
  options: serveOptions,
  exits: 'Exit code: 0 stopped, 2 bad usage or configuration, or the server cannot start.',
  settings: (args) => {
    const { values } = parseCommandArgs(args, serveOptions);
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name.toUpperCase(), String(value)]),
    );
  },
  run: async (args, context) => {
    const { positionals } = parseCommandArgs(args, serveOptions);
    if (positionals.length > 0) {
      throw new UsageError(`serve takes no arguments, not ${positionals.join(' ')}`);
    }
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
