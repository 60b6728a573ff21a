import { systemClock } from '../../core/clock.ts';
import { readAuthority } from '../../core/engine/authority.ts';
import { type Engine, openEngine } from '../../core/engine/engine.ts';
import { EngineError, UnusableEngineError } from '../../core/engine/engine-error.ts';
import { adviceFor, describeFault } from '../../core/engine/engine-faults.ts';
import { readNumber, readWarnings } from '../../core/engine/engine-report.ts';
import { type EngineAddress, parseEngineUrl } from '../../core/engine/engine-url.ts';
import { fault, ok, type Result, warning } from './finding.ts';
import type { DoctorContext } from './run-checks.ts';

/** Maximum time in milliseconds to wait for the first response of the Valkey or Redis server. */
const connectMs = 4000;
const calls = 15;

/** Checks the connection, permissions, settings and latency of the Valkey or Redis server. */
export async function checkEngine(context: DoctorContext): Promise<readonly Result[]> {
  const address = parseEngineUrl(context.config.PERCH_REDIS_URL ?? '');
  if (address === null)
    return [ok('No Valkey or Redis server is configured, so Perch runs as a single instance.')];
  const hosts = address.nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
  try {
    return await checkAt(address, hosts, context);
  } catch (error) {
    if (error instanceof EngineError) return [describeUnusable(hosts, error.message)];
    if (!(error instanceof UnusableEngineError)) throw error;
    return [{ status: 'fault', message: error.message, advice: null }];
  }
}

async function checkAt(
  address: EngineAddress,
  hosts: string,
  { config, random }: DoctorContext,
): Promise<readonly Result[]> {
  const engine = await openEngine({
    address,
    ca: readAuthority(config.PERCH_REDIS_CA_FILE),
    prefix: config.PERCH_REDIS_PREFIX,
    clock: systemClock,
    instance: random.bytes(9).toString('base64url'),
    isCounted: false,
    timeoutMs: connectMs,
    onChange: () => {},
  });
  try {
    if (!(await engine.waitUntilUp(connectMs))) {
      return [describeUnusable(hosts, engine.state.fault ?? '')];
    }
    await engine.checkChannels(connectMs);
    return await examine(engine, hosts, config);
  } finally {
    engine.close();
  }
}

function describeUnusable(hosts: string, reason: string): Result {
  const meaning = describeFault(reason);
  const advice = adviceFor(reason);
  if (advice !== null) return fault(`The engine at ${hosts} cannot be used. ${meaning}`, advice);
  const message = `The engine at ${hosts} does not answer. ${meaning}`;
  return fault(message, 'Start the engine, or correct PERCH_REDIS_URL.');
}

async function examine(
  engine: Engine,
  hosts: string,
  config: DoctorContext['config'],
): Promise<readonly Result[]> {
  const { PERCH_REDIS_TIMEOUT_MS: timeoutMs, PERCH_REDIS_ALLOW_VOLATILE: allowsVolatile } = config;
  const warnings = (await readWarnings(engine)) ?? [];
  const isRefused = config.PERCH_SESSIONS && !allowsVolatile && (await isVolatile(engine));
  const volatile = fault(
    `The engine at ${hosts} has no append-only file, so a restart of the engine deletes sessions. Perch does not start with such an engine.`,
    'Set `appendonly yes` in the configuration of the engine. If sessions may be lost, set PERCH_REDIS_ALLOW_VOLATILE=true.',
  );
  const settings = warnings
    .filter((text) => !isRefused || !text.startsWith('Append-only persistence is off'))
    .map((message): Result => ({ status: 'warning', message, advice: null }));
  const latencyMs = await measureLatency(engine);
  const slow = latencyMs > timeoutMs / 2 ? [describeSlow(hosts, latencyMs, timeoutMs)] : [];
  const found = [...(isRefused ? [volatile] : []), ...settings, ...slow];
  if (found.length > 0) return found;
  return [
    ok(`The engine at ${hosts} answers in ${latencyMs.toFixed(1)} ms, and its settings are safe.`),
  ];
}

async function isVolatile(engine: Engine): Promise<boolean> {
  const primaries = await engine.info('persistence').catch(() => []);
  return primaries.some((text) => readNumber(text, 'aof_enabled') === 0);
}

async function measureLatency(engine: Engine): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < calls; call += 1) {
    const startedMs = performance.now();
    await engine.run((client) => client.get(`${engine.instance}:doctor`));
    times.push(performance.now() - startedMs);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(calls / 2)] ?? 0;
}

function describeSlow(hosts: string, latencyMs: number, timeoutMs: number): Result {
  const message = `The engine at ${hosts} answers in ${latencyMs.toFixed(0)} ms, and PERCH_REDIS_TIMEOUT_MS is ${timeoutMs}.`;
  const advice = 'Use an engine in the same network, or increase PERCH_REDIS_TIMEOUT_MS.';
  return latencyMs > timeoutMs ? fault(message, advice) : warning(message, advice);
}
