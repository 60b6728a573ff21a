import type { Logger } from 'pino';
import { type Clock, systemClock } from '../lib/clock.ts';
import { restrictDataFolder } from '../lib/files/data-folder.ts';
import { systemRandom } from '../lib/random.ts';
import type { App } from '../server/build-app.ts';
import {
  type CommandBody,
  type CommandContext,
  type ExitCode,
  exitCodes,
  listenOptions,
  withoutArguments,
} from './command.ts';
import { createLogger } from './logger.ts';
import { explainOpenError, isOfSettings } from './output/explain.ts';
import { withStopSignal } from './stop-signal.ts';

/** Listen backlog. With Node's 511, some of a thousand simultaneous clients wait 1 to 3 seconds. */
const backlog = 4096;

export const serveCommand: CommandBody = {
  folder: 'created',
  lockedExit: exitCodes.failedStart,
  exits: `Exit code: 0 stopped, 2 bad usage or invalid configuration, 75 failed start for a reason that can pass, such as a
port in use.`,
  ...withoutArguments('serve', listenOptions, () => serve),
};

async function serve(context: CommandContext): Promise<ExitCode> {
  const logger = await createLogger(context.config.LOG_LEVEL, context.stdout);
  let code: ExitCode;
  try {
    const app = await open(context, logger);
    // Opening a large database can take long. Until this point, a signal ends the process at once.
    code = await withStopSignal((signal) => serveUntil(signal, app, { ...context, logger }));
  } catch (error) {
    code = isOfSettings(error) ? exitCodes.usage : exitCodes.failedStart;
    context.stderr.write(`perch: ${explainOpenError(error, context.config)}\n`);
  }
  // Ends the process even if pending work, such as a DNS lookup, keeps it alive.
  setTimeout(context.exit, exitDelayMs, code).unref();
  return code;
}

async function open(context: CommandContext, logger: Logger): Promise<App> {
  const { config, settings, warnings } = context;
  const { buildApp } = await import('../server/build-app.ts');
  const { findLostDatabases } = await import('../server/wiring/lost-databases.ts');
  const access = restrictDataFolder(config.PERCH_DATA_DIR);
  const found = [
    ...(access === null ? [] : [access]),
    ...findLostDatabases(config).map(
      ({ name, loss }) =>
        `${name} was missing in the data directory ${config.PERCH_DATA_DIR}, which Perch has used before, so Perch creates an empty file. ${loss}. Restore a backup if you need them.`,
    ),
  ];
  for (const warning of found) logger.warn(warning);
  const startWarnings = [...warnings, ...found];
  const basics = { config, logger, clock: systemClock, random: systemRandom };
  return buildApp({ ...basics, settings, startWarnings });
}

async function serveUntil(
  signal: AbortSignal,
  app: App,
  { config, settings, logger, stdout, stderr }: CommandContext & { readonly logger: Logger },
): Promise<ExitCode> {
  const stopped = new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true });
  });
  // In a terminal, a line of text tells the person that Perch is ready. Otherwise, the log does.
  const isForPerson = stdout.isTerminal && stderr.isTerminal;
  const { level } = logger;
  if (isForPerson && level === 'info') logger.level = 'warn';
  const listening = app.server.listen({ host: config.HOST, port: config.PORT, backlog });
  try {
    await Promise.race([listening, stopped]);
  } catch (error) {
    await app.server.close();
    throw error;
  }
  logger.level = level;
  if (!signal.aborted && stderr.isTerminal) {
    stderr.write(`Perch is ready: ${config.PERCH_BASE_URL}\n`);
    if (!settings.has('PERCH_BROWSER_PAGES')) stderr.write(browserPagesHint);
  }
  if (!signal.aborted && !isForPerson) {
    const { PERCH_BASE_URL: base_url, PERCH_DATA_DIR: data, PERCH_PROVIDERS: providers } = config;
    logger.info({ base_url, data, providers }, 'Perch is ready');
  }
  await stopped;
  logger.info(
    { signal: signal.reason },
    'Perch is stopping: it refuses new requests and finishes those in progress',
  );
  await shutDown(app, {
    clock: systemClock,
    graceMs: config.PERCH_SHUTDOWN_GRACE_MS,
    drainMs: config.PERCH_SHUTDOWN_DRAIN_MS,
  });
  logger.info('Perch has stopped');
  return exitCodes.ok;
}

const browserPagesHint =
  'Set PERCH_BROWSER_PAGES=true to open links to posts as web pages in browsers.\n';

/** Milliseconds from closing the server to a forced exit, even if work is pending. */
const exitDelayMs = 500;

/** Maximum time in milliseconds to finish sending responses after the grace period. */
const flushMs = 500;

interface ShutdownOptions {
  readonly clock: Clock;
  /** Milliseconds to wait for requests in progress, which then fail with `shutting_down`. */
  readonly graceMs: number;
  /** Minimum milliseconds that the port stays open, so that load balancers notice the shutdown. */
  readonly drainMs: number;
}

/** Refuses new requests and waits, `drainMs` to `graceMs`, for requests in progress. */
export async function shutDown(app: App, { clock, graceMs, drainMs }: ShutdownOptions) {
  app.startDraining();
  const startedMs = clock.now();
  const elapsed = () => clock.now() - startedMs;
  while (elapsed() < drainMs || (app.inFlight > 0 && elapsed() < graceMs)) await clock.sleep(20);
  app.cutOff();
  const closed = app.server.close();
  await Promise.race([closed, clock.sleep(flushMs)]);
  app.server.server.closeAllConnections();
  await closed;
}
