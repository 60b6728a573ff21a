import { accessSync, constants } from 'node:fs';
import {
  type Corpus,
  CorpusError,
  corporaAt,
  ownCorpus,
  walkCorpus,
} from '../../answers/corpus/corpus.ts';
import { completeChat, ModelFailure } from '../../answers/llm/chat-client.ts';
import type { Config } from '../../config/config.ts';
import { openPostClient } from '../../lib/http/post-client.ts';
import type { Engine } from '../../lib/redis/engine.ts';
import { UnusableEngineError } from '../../lib/redis/engine-error.ts';
import { readWarnings } from '../../lib/redis/engine-report.ts';
import { toModelChoice } from '../../server/wiring/answers.ts';
import { refuseVolatile } from '../../server/wiring/sessions.ts';
import { openSharedEngine } from '../../server/wiring/shared-engine.ts';
import { type DoctorContext, fault, ok, type Result, warning } from './finding.ts';

/** Milliseconds to wait for the first response of the Valkey or Redis server. */
const engineMs = 4000;
const calls = 15;

/** Opens the Valkey or Redis server as at the start, and checks its settings and latency. */
export async function checkEngine({ config, clock, random }: DoctorContext) {
  const logger = { info: () => {}, error: () => {} };
  const limits = { isCounted: false, timeoutMs: engineMs, startMs: engineMs };
  let engine: Engine | null = null;
  try {
    engine = await openSharedEngine({ config, clock, random, logger }, limits);
    if (engine === null) {
      return [ok('No Valkey or Redis server is configured, so Perch runs as a single instance.')];
    }
    if (config.PERCH_SESSIONS) await refuseVolatile(engine, config);
    return await examine(engine, config);
  } catch (error) {
    if (!(error instanceof UnusableEngineError)) throw error;
    return [fault(error.message)];
  } finally {
    engine?.close();
  }
}

async function examine(engine: Engine, { PERCH_REDIS_TIMEOUT_MS: timeoutMs }: Config) {
  const found = ((await readWarnings(engine)) ?? []).map((message) => warning(message));
  const latencyMs = await measureLatency(engine);
  if (latencyMs > timeoutMs / 2) {
    const message = `The engine answers in ${latencyMs.toFixed(0)} ms, and PERCH_REDIS_TIMEOUT_MS is ${timeoutMs}.`;
    const advice = 'Use an engine in the same network, or increase PERCH_REDIS_TIMEOUT_MS.';
    found.push(latencyMs > timeoutMs ? fault(message, advice) : warning(message, advice));
  }
  if (found.length > 0) return found;
  return [ok(`The engine answers in ${latencyMs.toFixed(1)} ms, and its settings are safe.`)];
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

/** Milliseconds to wait for the model's first word, unless its configured timeout is shorter. */
const maxStallMs = 7500;

const messages = [{ role: 'user', content: 'Reply with the word OK.' }] as const;

/** Sends a short question to the language model, and stops after the first word of the answer. */
export async function checkModel(
  { config, clock }: DoctorContext,
  signal: AbortSignal,
): Promise<Result> {
  const choice = toModelChoice(config);
  if (choice === undefined) return ok('No language model is configured.');
  const { hostname } = new URL(choice.url);
  const client = openPostClient({ ...choice, clock });
  const stallMs = Math.min(maxStallMs, choice.stallMs);
  const options = { ...choice, stallMs, totalMs: stallMs, client, clock };
  try {
    for await (const _ of completeChat(options, messages, { signal })) break;
    return ok(`The language model ${choice.model} at ${hostname} answers.`);
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    const message = `${error.message} The model is ${choice.model} at ${hostname}.`;
    const [, advice = 'Start the server of the model, or correct PERCH_MODEL_URL.', judge = fault] =
      modelAdvice.find(([pattern]) => pattern.test(error.message)) ?? [];
    return judge(message, advice);
  } finally {
    await client.close();
  }
}

/** Advice by the message of a failure, which contains the status. */
const modelAdvice: readonly (readonly [RegExp, string, typeof warning])[] = [
  [/ answered 40[13]/, 'Correct PERCH_MODEL_KEY.', fault],
  [/ answered 40[04]/, 'Correct PERCH_MODEL, or the path in PERCH_MODEL_URL.', fault],
  [/ answered 429/, 'Check your account at the provider of the model.', warning],
  [
    / took more than /,
    'If the model is still being loaded, run perch doctor again. Otherwise, use a faster one.',
    warning,
  ],
];

/** Maximum number of files of each path in `PERCH_CORPUS`, and of milliseconds to count them. */
const bounds = { files: 5000, ms: 2000 } as const;

export function checkCorpus({ config, clock }: DoctorContext): readonly Result[] {
  const { PERCH_CORPUS: paths } = config;
  if (paths.length > 0) {
    const untilMs = clock.now() + bounds.ms;
    return paths.map((path) => checkPath(path, () => clock.now() > untilMs));
  }
  if (!walkCorpus(ownCorpus()).next().done) {
    return [ok('Perch answers questions from its own documentation.')];
  }
  const advice = 'Install Perch again, including the folder docs.';
  return [fault('The documentation of Perch is missing.', advice)];
}

function checkPath(path: string, isLate: () => boolean): Result {
  try {
    const [corpus] = corporaAt([path]);
    return corpus === undefined ? fault(`${path} is empty.`) : describeFiles(path, corpus, isLate);
  } catch (error) {
    if (!(error instanceof CorpusError)) throw error;
    return fault(`PERCH_CORPUS contains ${path}. ${error.message}`, 'Correct PERCH_CORPUS.');
  }
}

function countFiles(corpus: Corpus, isLate: () => boolean) {
  const count = { files: 0, unreadable: 0, isComplete: true };
  const onSkip = (reason: string) => {
    if (reason === 'unreadable') count.unreadable += 1;
  };
  for (const { absolute } of walkCorpus(corpus, { onSkip })) {
    count[canRead(absolute) ? 'files' : 'unreadable'] += 1;
    if (count.files + count.unreadable < bounds.files && !isLate()) continue;
    return { ...count, isComplete: false };
  }
  return count;
}

function describeFiles(path: string, corpus: Corpus, isLate: () => boolean): Result {
  const { files, unreadable, isComplete } = countFiles(corpus, isLate);
  if (unreadable > 0) {
    const message = `PERCH_CORPUS contains ${path}. The user that runs Perch cannot read ${unreadable} of its files or folders.`;
    const advice = `Give this user access, for example with \`chmod -R a+rX ${path}\`.`;
    return files === 0 ? fault(message, advice) : warning(message, advice);
  }
  if (files === 0) {
    const message = `${path} contains no documents in a format that Perch can read.`;
    return warning(message, 'Add Markdown, HTML or text files, or correct PERCH_CORPUS.');
  }
  return ok(`${path} contains ${isComplete ? files : `at least ${files}`} documents.`);
}

function canRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
