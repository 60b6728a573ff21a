import type { Logger } from 'pino';
import type { App } from '../app/build-app.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { closeDataFolder } from '../core/files/data-folder.ts';
import { systemRandom } from '../core/random.ts';
import { parseCommandArgs, taking } from './arguments.ts';
import {
  type CommandBody,
  type CommandContext,
  type CommandOptions,
  type ExitCode,
  exitCodes,
  UsageError,
} from './command.ts';
import { createLogger } from './logger.ts';
import { explainOpening } from './output/explain.ts';
import { withStopSignal } from './stop-signal.ts';

/**
 * Maximum number of connections that wait to be accepted; the system may allow fewer. Beyond Node's 511
 * a client that comes with a thousand others tries again after a second, or three.
 */
const backlog = 4096;

const serveOptions = {
  port: { type: 'string', value: 'PORT', about: 'The port to listen on, in place of PORT.' },
  host: { type: 'string', value: 'HOST', about: 'The address to listen on, in place of HOST.' },
} as const satisfies CommandOptions;

/** `perch serve`: the server, until SIGTERM or SIGINT. */
export const serveCommand: CommandBody = {
  exits: 'Exit code: 0 stopped, 2 bad usage or configuration, or the server cannot start.',
  settings: (args) => {
    const { values } = parseCommandArgs(args, serveOptions);
    const named = Object.entries(values).map(([name, value]) => [name.toUpperCase(), value]);
    return Object.fromEntries(named);
  },
  ...taking(serveOptions, (_, positionals) => {
    if (positionals.length === 0) return serve;
    throw new UsageError(`serve takes no arguments, not ${positionals.join(' ')}`);
  }),
};

async function serve(context: CommandContext): Promise<ExitCode> {
  const logger = await createLogger(context.config.LOG_LEVEL, context.stdout);
  let code: ExitCode = exitCodes.usage;
  try {
    const app = await open(context, logger);
    // Until here the system ends the process on a signal: opening a large database can take long.
    code = await withStopSignal((signal) => serveUntil(signal, app, { ...context, logger }));
  } catch (error) {
    context.stderr.write(`perch: ${explainOpening(error, context.config)}\n`);
  }
  // Ends the process if anything keeps it after everything is closed.
  setTimeout(() => process.exit(code), lingerMs).unref();
  return code;
}

async function open({ config }: CommandContext, logger: Logger): Promise<App> {
  const warning = closeDataFolder(config.PERCH_DATA_DIR);
  if (warning !== null) logger.warn(warning);
  const { buildApp } = await import('../app/build-app.ts');
  return buildApp({ config, logger, clock: systemClock, random: systemRandom });
}

/** @throws the error of listening; the server is closed by then */
async function serveUntil(
  signal: AbortSignal,
  app: App,
  { config, logger }: CommandContext & { readonly logger: Logger },
): Promise<ExitCode> {
  const stopped = new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true });
  });
  const listening = app.server.listen({ host: config.HOST, port: config.PORT, backlog });
  try {
    await Promise.race([listening, stopped]);
  } catch (error) {
    await app.server.close();
    throw error;
  }
  if (!signal.aborted) {
    const { PERCH_BASE_URL: base_url, PERCH_DATA_DIR: data, PERCH_PROVIDERS: providers } = config;
    logger.info({ base_url, data, providers }, 'ready');
  }
  await stopped;
  logger.info({ signal: signal.reason }, 'draining');
  await shutDown(app, {
    clock: systemClock,
    graceMs: config.PERCH_SHUTDOWN_GRACE_MS,
    drainMs: config.PERCH_SHUTDOWN_DRAIN_MS,
  });
  logger.info('stopped');
  return exitCodes.ok;
}

/** Milliseconds that a closed server may still keep the process, such as by a name that is looked up. */
const lingerMs = 500;

/** Milliseconds after the grace in which replies can still be flushed. */
const flushMs = 500;

interface ShutdownOptions {
  readonly clock: Clock;
  /** Milliseconds for work in flight; what is left then is ended. */
  readonly graceMs: number;
  /** Minimum number of milliseconds that the listener stays open, so that readiness is seen to end. */
  readonly drainMs: number;
}

/**
 * Stops a server: new requests are refused while the listener stays open, work in flight finishes, or is
 * answered `shutting_down` at the end of the grace, then everything closes.
 */
export async function shutDown(app: App, { clock, graceMs, drainMs }: ShutdownOptions) {
  app.startDraining();
  const begun = clock.now();
  const elapsed = () => clock.now() - begun;
  while (elapsed() < drainMs || (app.inFlight > 0 && elapsed() < graceMs)) await clock.sleep(20);
  app.cutOff();
  const closed = app.server.close();
  await Promise.race([closed, clock.sleep(flushMs)]);
  app.server.server.closeAllConnections();
  await closed;
}
