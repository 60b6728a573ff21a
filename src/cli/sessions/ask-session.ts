import { CorpusError } from '../../answers/corpus/corpus.ts';
import { openAnswers } from '../../answers/open-answers.ts';
import { openConfiguredAnswers } from '../../app/open/answers.ts';
import { toLedgerBounds } from '../../app/open/bounds.ts';
import {
  openSessionSecret,
  openSessions,
  readAddress,
  toCallerRules,
  toSessionsPath,
} from '../../app/open/sessions.ts';
import { systemClock } from '../../core/clock.ts';
import { FileHeldError } from '../../core/files/file-hold.ts';
import { Problem, type ProblemCode, problemKinds } from '../../core/problem.ts';
import { systemRandom } from '../../core/random.ts';
import { createLedger } from '../../core/scheduling/ledger.ts';
import type { SessionService } from '../../sessions/service.ts';
import { type CommandContext, type ExitCode, exitCodes, UsageError } from '../command.ts';
import { createLogger } from '../logger.ts';
import { explainOpening } from '../output/explain.ts';
import type { ProgressLine } from '../output/progress-line.ts';
import { createOwnReach, createRemoteReach, type SessionReach, UnreachableError } from './reach.ts';
import { followTurn } from './turn.ts';

interface SessionQuestion {
  readonly question: string;
  /** `null` starts a session. */
  readonly sessionId: string | null;
  readonly json: boolean;
}

/**
 * Asks a session of the data directory and prints the answer as it arrives. The server that holds the
 * sessions is asked where one runs; otherwise this process holds them until it has answered.
 *
 * @throws UsageError where sessions are out of reach
 */
export async function askSession(
  asked: SessionQuestion,
  context: CommandContext,
  progress: ProgressLine,
): Promise<ExitCode> {
  if (toSessionsPath(context.config) === ':memory:') {
    throw new UsageError('sessions are kept in memory here; only the server itself has them');
  }
  let reach: SessionReach | null = null;
  try {
    reach = await openReach(context, progress);
    return await askIn(reach, asked, context);
  } catch (error) {
    return explain(error, context);
  } finally {
    await reach?.close();
  }
}

async function openReach(context: CommandContext, progress: ProgressLine): Promise<SessionReach> {
  try {
    return await openOwnReach(context, progress);
  } catch (error) {
    if (error instanceof FileHeldError) return openRemoteReach(context);
    if (error instanceof CorpusError) throw new UsageError(error.message, { cause: error });
    throw new UnreachableError(explainOpening(error, context.config), { cause: error });
  }
}

function openRemoteReach({ config }: CommandContext): SessionReach {
  const url = readAddress(config);
  if (url !== null) return createRemoteReach(url, openSessionSecret(config, systemRandom));
  throw new UnreachableError('another process holds the sessions, and serves none');
}

async function openOwnReach(context: CommandContext, progress: ProgressLine) {
  const { config, stderr } = context;
  const shared = { config, clock: systemClock };
  const answers = openConfiguredAnswers({
    ...shared,
    open: openAnswers,
    onProgress: progress.hear,
  });
  let service: SessionService | null = null;
  const close = async () => {
    if (service !== null) await closeWhenDone(service);
    await answers.close();
  };
  try {
    const logger = await createLogger('warn', stderr);
    service = await openSessions({
      ...shared,
      logger,
      random: systemRandom,
      engine: answers.engine,
      ledger: createLedger(toLedgerBounds(config)),
    });
    await answers.refresh();
    progress.clear();
    return createOwnReach({ service, bindBearer: toCallerRules(config).bindBearer, close });
  } catch (error) {
    await close();
    throw error;
  }
}

/** What waited in other sessions may have begun here: it is not cut off, and no more of it begins. */
async function closeWhenDone(service: SessionService): Promise<void> {
  service.startDraining();
  while (service.turns.atWork > 0) await systemClock.sleep(10);
  await service.close();
}

async function askIn(
  reach: SessionReach,
  { question, sessionId, json }: SessionQuestion,
  { stdout, stderr }: CommandContext,
): Promise<ExitCode> {
  const taken = await (sessionId === null
    ? reach.start(question)
    : reach.goOn(sessionId, question));
  if (sessionId === null) stderr.write(`perch: session ${taken.sessionId}\n`);
  const printed = createGrowingText((text) => {
    if (!json) stdout.write(text);
  });
  const outcome = await followTurn(taken, { reach, clock: systemClock, onText: printed.show });
  const { answer } = outcome;
  if (answer !== null && json) {
    const { message, finishReason, citations, abstained } = answer;
    const members = { message, finishReason, citations, abstained, sessionId: taken.sessionId };
    stdout.writeJson(`${JSON.stringify(members)}\n`);
  }
  if (outcome.kind === 'answered') printed.show(outcome.answer.message);
  printed.end();
  if (outcome.kind === 'answered') {
    return outcome.answer.abstained ? exitCodes.notFound : exitCodes.ok;
  }
  stderr.write(`perch: ${outcome.message}\n`);
  return exitCodes.upstream;
}

/** Writes what is new of a growing text; writes a text anew that does not go on from what was written. */
function createGrowingText(write: (text: string) => void) {
  let written = '';
  return {
    show: (soFar: string) => {
      const goesOn = soFar.startsWith(written);
      write(goesOn ? soFar.slice(written.length) : `\n\n${soFar}`);
      written = soFar;
    },
    end: () => {
      if (written !== '' && !written.endsWith('\n')) write('\n');
    },
  };
}

/** Advice for the command line, where the resolution of the code speaks of requests. */
const advice: Partial<Readonly<Record<ProblemCode, string>>> = {
  session_not_found: '`perch sessions list` shows what there is, `--session new` starts one.',
  session_expired: '`--session new` starts a new one.',
  session_not_active: '`--session new` starts a new one; `perch sessions show` shows this one.',
  session_forbidden: 'Only who knows that bearer can ask further in it.',
  payload_too_large: 'Ask a shorter question.',
  turn_queue_full: 'Ask again in a moment.',
  rate_limited: 'Ask again in a moment.',
  not_ready: 'The server still reads the docs. Ask again in a moment.',
};

/** @throws any error that is no failure of the sessions or of their server */
function explain(error: unknown, { config, stderr }: CommandContext): ExitCode {
  if (error instanceof Problem) {
    const { resolution } = problemKinds[error.code];
    stderr.write(`perch: ${error.message} ${advice[error.code] ?? resolution}\n`);
    return error.status === 429 || error.status >= 500 ? exitCodes.upstream : exitCodes.usage;
  }
  if (error instanceof UnreachableError) {
    stderr.write(`perch: ${error.message}\nThe sessions are in ${toSessionsPath(config)}.\n`);
    return exitCodes.upstream;
  }
  throw error;
}
