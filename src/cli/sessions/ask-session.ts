import { CorpusError } from '../../answers/corpus/corpus.ts';
import { openAnswers } from '../../answers/open-answers.ts';
import { openConfiguredAnswers } from '../../app/open/answers.ts';
import { toLedgerBounds } from '../../app/open/bounds.ts';
import {
  openSessionSecret,
  openSessions,
  readAddressFile,
  toCallerRules,
} from '../../app/open/sessions.ts';
import { systemClock } from '../../core/clock.ts';
import type { Engine } from '../../core/engine/engine.ts';
import { FileLockedError } from '../../core/files/file-lock.ts';
import { Problem, type ProblemCode, problemKinds } from '../../core/problem.ts';
import { systemRandom } from '../../core/random.ts';
import { createLedger } from '../../core/scheduling/ledger.ts';
import type { SessionService } from '../../sessions/service.ts';
import {
  type CommandContext,
  CommandError,
  type ExitCode,
  exitCodes,
  UsageError,
} from '../command.ts';
import { createLogger } from '../logger.ts';
import { explainOpenError } from '../output/explain.ts';
import { createProgressLine } from '../output/progress-line.ts';
import { toJsonLines } from '../output/table.ts';
import { describeSessionPlace } from '../sessions.ts';
import { openCommandEngine } from '../stores/command-engine.ts';
import {
  createLocalClient,
  createRemoteClient,
  type SessionClient,
  UnreachableError,
} from './session-client.ts';
import { followTurn } from './turn.ts';

/** Question for a session. `sessionId` is `null` to start a new session. */
type SessionQuestion = Readonly<{ question: string; sessionId: string | null; json: boolean }>;

/** Asks a question in a session and prints the answer as it arrives. Uses the running server, if there is one. */
export async function askSession(question: SessionQuestion, context: CommandContext) {
  const place = describeSessionPlace(context);
  let client: SessionClient | null = null;
  try {
    client = await openClient(context);
    return await askWith(client, question, context);
  } catch (error) {
    if (error instanceof Problem) throw toCommandError(error);
    if (!(error instanceof UnreachableError)) throw error;
    const fault = `${error.message}\n${place}`;
    throw new CommandError('upstream', fault, { cause: error });
  } finally {
    await client?.close();
  }
}

async function openClient(context: CommandContext): Promise<SessionClient> {
  const { config } = context;
  try {
    return await openLocalClient(context);
  } catch (cause) {
    if (cause instanceof CorpusError) throw new UsageError(cause.message, { cause });
    if (!(cause instanceof FileLockedError)) {
      throw new UnreachableError(explainOpenError(cause, config), { cause });
    }
    const url = readAddressFile(config);
    if (url !== null) return createRemoteClient(url, openSessionSecret(config, systemRandom));
    throw new UnreachableError('Another process uses the sessions. Try again in a moment.');
  }
}

async function openLocalClient({ config, stderr }: CommandContext): Promise<SessionClient> {
  const shared = { config, clock: systemClock };
  const progress = createProgressLine(stderr, systemClock);
  const options = { ...shared, open: openAnswers, onProgress: progress.hear };
  const answers = openConfiguredAnswers(options);
  let service: SessionService | null = null;
  let sharedEngine: Engine | null = null;
  const close = async () => {
    if (service !== null) await closeWhenDone(service);
    sharedEngine?.close();
    await answers.close();
  };
  try {
    sharedEngine = await openCommandEngine(config);
    service = await openSessions({
      ...shared,
      logger: await createLogger('warn', stderr),
      random: systemRandom,
      engine: answers.engine,
      sharedEngine,
      ledger: createLedger(toLedgerBounds(config)),
    });
    await answers.refresh();
    progress.clear();
    return createLocalClient({ service, bindBearer: toCallerRules(config).bindBearer, close });
  } catch (error) {
    await close();
    throw error;
  }
}

/** Waits for the running answers of all sessions, then closes the service. Meanwhile, no new answers are started. */
async function closeWhenDone(service: SessionService): Promise<void> {
  service.startDraining();
  while (service.turns.atWork > 0) await systemClock.sleep(10);
  await service.close();
}

async function askWith(
  client: SessionClient,
  { question, sessionId, json }: SessionQuestion,
  { stdout, stderr }: CommandContext,
): Promise<ExitCode> {
  const accepted = await (sessionId === null
    ? client.start(question)
    : client.followUp(sessionId, question));
  if (sessionId === null) stderr.write(`perch: The session ID is ${accepted.sessionId}.\n`);
  const printed = createTextPrinter((text) => {
    if (!json) stdout.write(text);
  });
  const outcome = await followTurn(accepted, { client, clock: systemClock, onText: printed.show });
  if (outcome.answer !== null && json) {
    const { message, finishReason, citations, abstained } = outcome.answer;
    const members = { message, finishReason, citations, abstained, sessionId: accepted.sessionId };
    stdout.writeJson(toJsonLines([members]));
  }
  if (outcome.kind === 'answered') printed.show(outcome.answer.message);
  printed.end();
  if (outcome.kind === 'failed') throw new CommandError('upstream', outcome.message);
  return outcome.answer.abstained ? exitCodes.notFound : exitCodes.ok;
}

/** Creates a printer of a growing text. `show` writes only the new part, or the whole text if earlier text changed. */
function createTextPrinter(write: (text: string) => void) {
  let written = '';
  return {
    show: (soFar: string) => {
      const isContinued = soFar.startsWith(written);
      write(isContinued ? soFar.slice(written.length) : `\n\n${soFar}`);
      written = soFar;
    },
    end: () => {
      if (written !== '' && !written.endsWith('\n')) write('\n');
    },
  };
}

/** Advice for command-line users by problem code. It replaces the advice for HTTP clients. */
const advice: Partial<Readonly<Record<ProblemCode, string>>> = {
  session_not_found: '`perch sessions list` lists the sessions, `--session new` starts one.',
  session_expired: '`--session new` starts a new one.',
  session_not_active: '`--session new` starts a new one; `perch sessions show` prints this one.',
  session_forbidden: 'Only callers with that bearer token can continue it.',
  payload_too_large: 'Ask a shorter question.',
  turn_queue_full: 'Ask again in a moment.',
  rate_limited: 'Ask again in a moment.',
  not_ready: 'The server is still building its index. Ask again in a moment.',
};

function toCommandError({ code, message, status }: Problem): CommandError {
  const exit = status === 429 || status >= 500 ? 'upstream' : 'usage';
  return new CommandError(exit, `${message} ${advice[code] ?? problemKinds[code].resolution}`);
}
