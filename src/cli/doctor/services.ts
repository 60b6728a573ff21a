import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CorpusError, corporaAt, ownCorpus, walkCorpus } from '../../answers/corpus/corpus.ts';
import { completeChat, ModelFailure } from '../../answers/llm/chat-client.ts';
import { systemClock } from '../../lib/clock.ts';
import { openPostClient } from '../../lib/http/post-client.ts';
import { type Engine, openEngine } from '../../lib/redis/engine.ts';
import {
  adviceFor,
  describeFault,
  EngineError,
  UnusableEngineError,
} from '../../lib/redis/engine-error.ts';
import { readNumber, readWarnings } from '../../lib/redis/engine-report.ts';
import { type EngineAddress, parseEngineUrl, readAuthority } from '../../lib/redis/engine-url.ts';
import { toModelChoice } from '../../server/wiring/answers.ts';
import { type DoctorContext, fault, ok, type Result, warning } from './finding.ts';

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
    return [fault(error.message)];
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
    .map((message) => warning(message));
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

/** Milliseconds to wait for the model's first word, unless its configured timeout is shorter. */
const maxStallMs = 7500;

const messages = [{ role: 'user', content: 'Reply with the word OK.' }] as const;

/** Sends a short question to the language model, and stops after the first word of the answer. */
export async function checkModel(
  { config, clock }: DoctorContext,
  signal: AbortSignal,
): Promise<readonly Result[]> {
  const choice = toModelChoice(config);
  if (choice === undefined) return [ok('No language model is configured.')];
  const pool = openPostClient({ ...choice, clock });
  let status: number | null = null;
  const client: typeof pool = {
    ...pool,
    post: async (url, request) => {
      const reply = await pool.post(url, request);
      ({ status } = reply);
      return reply;
    },
  };
  const { hostname } = new URL(choice.url);
  const stallMs = Math.min(maxStallMs, choice.stallMs);
  const limits = { stallMs, totalMs: stallMs };
  try {
    const call = { signal };
    for await (const _ of completeChat({ ...choice, ...limits, client, clock }, messages, call))
      break;
    return [ok(`The language model ${choice.model} at ${hostname} answers.`)];
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    return [describeFailure(error, status, { model: choice.model, host: hostname, stallMs })];
  } finally {
    await pool.close();
  }
}

function describeFailure(
  failure: ModelFailure,
  status: number | null,
  { model, host, stallMs }: Readonly<{ model: string; host: string; stallMs: number }>,
): Result {
  if (status === 401 || status === 403) {
    return fault(
      `The endpoint at ${host} refuses the key (status ${status}).`,
      'Correct PERCH_MODEL_KEY.',
    );
  }
  if (status === 404 || status === 400) {
    const message = `The endpoint at ${host} does not accept the model ${model} (status ${status}).`;
    return fault(message, 'Correct PERCH_MODEL, or the path in PERCH_MODEL_URL.');
  }
  if (status === 429) {
    return warning(
      `The endpoint at ${host} limits the rate of requests.`,
      'Check your account at the provider of the model.',
    );
  }
  if (failure.code === 'model_stalled') {
    const message = `The language model ${model} at ${host} did not answer within ${stallMs} ms.`;
    return warning(
      message,
      'If the model is still being loaded, run perch doctor again. Otherwise, use a faster one.',
    );
  }
  const advice = 'Start the server of the model, or correct PERCH_MODEL_URL.';
  return fault(`${failure.message} The endpoint is at ${host}.`, advice);
}

const bounds = {
  /** Maximum number of files to count for each path in `PERCH_CORPUS`. */
  files: 5000,
  /** Maximum time in milliseconds to count the files of all paths in `PERCH_CORPUS`. */
  ms: 2000,
} as const;

export async function checkCorpus({ config, clock }: DoctorContext): Promise<readonly Result[]> {
  const { PERCH_CORPUS: paths } = config;
  if (paths.length === 0) {
    const count = [...walkCorpus(ownCorpus())].length;
    if (count > 0) return [ok('Perch answers questions from its own documentation.')];
    return [
      fault(
        'The documentation of Perch is missing.',
        'Install Perch again, including the folder docs.',
      ),
    ];
  }
  return paths.map((path) => {
    const untilMs = clock.now() + bounds.ms / paths.length;
    return checkPath(path, () => clock.now() > untilMs);
  });
}

function checkPath(path: string, isLate: () => boolean): Result {
  const correct = 'Correct PERCH_CORPUS.';
  try {
    const [corpus] = corporaAt([path]);
    if (corpus === undefined) return fault(`${path} cannot be read.`, correct);
    const absolute = resolve(path);
    const isFolder = statSync(absolute).isDirectory();
    if (!canRead(absolute, isFolder)) {
      const message = `PERCH_CORPUS contains ${path}, which the user that runs Perch cannot read.`;
      return fault(message, `Give this user access, for example with \`chmod -R a+rX ${path}\`.`);
    }
    return describeCounts(path, countFiles(corpus, isLate));
  } catch (error) {
    if (!(error instanceof CorpusError)) throw error;
    return fault(`PERCH_CORPUS contains ${path}. ${error.message}`, correct);
  }
}

function canRead(path: string, isFolder: boolean): boolean {
  try {
    accessSync(path, isFolder ? constants.R_OK | constants.X_OK : constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

interface Counts {
  readonly files: number;
  readonly unreadable: number;
  readonly isComplete: boolean;
}

function countFiles(corpus: Parameters<typeof walkCorpus>[0], isLate: () => boolean): Counts {
  let [files, unreadable] = [0, 0];
  const onFolder = (folder: string) => {
    if (!canRead(folder, true)) unreadable += 1;
  };
  for (const { absolute } of walkCorpus(corpus, { onFolder })) {
    files += 1;
    if (!canRead(absolute, false)) unreadable += 1;
    if (files >= bounds.files || isLate()) return { files, unreadable, isComplete: false };
  }
  return { files, unreadable, isComplete: true };
}

function describeCounts(path: string, { files, unreadable, isComplete }: Counts): Result {
  if (unreadable > 0) {
    const message = `${unreadable} files or folders in ${path} cannot be read by the user that runs Perch.`;
    return warning(message, `Give this user access, for example with \`chmod -R a+rX ${path}\`.`);
  }
  if (files === 0) {
    const message = `${path} contains no documents in a format that Perch can read.`;
    return warning(message, 'Add Markdown, HTML or text files, or correct PERCH_CORPUS.');
  }
  return ok(`${path} contains ${isComplete ? files : `at least ${files}`} documents.`);
}
