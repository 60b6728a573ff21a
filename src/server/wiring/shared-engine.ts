import { type Engine, type EngineState, openEngine } from '../../lib/redis/engine.ts';
import {
  adviceFor,
  describeFault,
  EngineError,
  UnusableEngineError,
} from '../../lib/redis/engine-error.ts';
import { parseEngineUrl, readAuthority } from '../../lib/redis/engine-url.ts';
import type { AppOptions } from '../context.ts';

interface EngineBasics extends Pick<AppOptions, 'config' | 'clock' | 'random' | 'engineClock'> {
  readonly logger: Pick<AppOptions['logger'], 'info' | 'error'>;
}

interface ConnectionOptions {
  /** Name of this server instance. Default: a random name. */
  readonly instance?: string;
  /** Whether this process counts as an instance, by which limits are divided. Default: `true`. */
  readonly isCounted?: boolean;
  /** Timeout of a request in milliseconds. Default: `PERCH_REDIS_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
  /** Maximum time in milliseconds to wait for the engine. Default: 10 seconds. */
  readonly startMs?: number;
}

/** Opens the engine; `null` without `PERCH_REDIS_URL`. Throws UnusableEngineError if it fails. */
export async function openSharedEngine(
  options: EngineBasics,
  { instance, isCounted = true, timeoutMs, startMs = 10_000 }: ConnectionOptions = {},
): Promise<Engine | null> {
  const { config, logger, random } = options;
  const address = parseEngineUrl(config.PERCH_REDIS_URL ?? '');
  if (address === null) return null;
  const onChange = ({ isUp, fault }: EngineState) =>
    isUp
      ? logger.info('the shared engine answers')
      : logger.error({ fault }, 'the shared engine does not answer');
  const engine = await openEngine({
    ...options,
    clock: options.engineClock ?? options.clock,
    address,
    ca: readAuthority(config.PERCH_REDIS_CA_FILE),
    prefix: config.PERCH_REDIS_PREFIX,
    instance: instance ?? random.bytes(9).toString('base64url'),
    isCounted,
    timeoutMs: timeoutMs ?? config.PERCH_REDIS_TIMEOUT_MS,
    onChange,
  });
  const fault = await faultAtStart(engine, startMs);
  if (fault === null) return engine;
  engine.close();
  const hosts = address.nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
  const advice = adviceFor(fault);
  throw new UnusableEngineError(
    advice === null
      ? `The shared engine at ${hosts} does not answer: ${fault}. Start it, or correct PERCH_REDIS_URL.`
      : `The shared engine at ${hosts} cannot be used. ${describeFault(fault)} ${advice}`,
  );
}

async function faultAtStart(engine: Engine, startMs: number): Promise<string | null> {
  if (!(await engine.waitUntilUp(startMs))) return engine.state.fault ?? '';
  try {
    await engine.checkChannels(startMs);
    return null;
  } catch (error) {
    if (error instanceof EngineError) return error.message;
    throw error;
  }
}
