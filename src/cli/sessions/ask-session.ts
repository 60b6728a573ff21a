import { CorpusError } from '../../answers/corpus/corpus.ts';
import { openAnswers } from '../../answers/open-answers.ts';
import { openConfiguredAnswers } from '../../app/open/answers.ts';
import { toLedgerBounds } from '../../app/open/bounds.ts';
import {
  openSessionSecret,
  openSessions,
  readAddress,
  toCallerRules,
} from '../../app/open/sessions.ts';
import { systemClock } from '../../core/clock.ts';
import { FileHeldError } from '../../core/files/file-hold.ts';
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
import { explainOpening } from '../output/explain.ts';
import { createProgressLine } from '../output/progress-line.ts';
import { toJsonLines } from '../output/table.ts';
import { sessionsFileOf } from '../sessions.ts';
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
 */
export async function askSession(
  asked: SessionQuestion,
  context: CommandContext,
): Promise<ExitCode> {
  const path = sessionsFileOf(context);
  let reach: SessionReach | null = null;
  try {
    reach = await openReach(context);
    return await askIn(reach, asked, context);
  } catch (error) {
    if (error instanceof Problem) throw toCommandError(error);
    if (!(error instanceof UnreachableError)) throw error;
    const fault = `${error.message}\nThe sessions are in ${path}.`;
    throw new CommandError('upstream', fault, { cause: error });
  } finally {
    await reach?.close();
  }
}

async function openReach(context: CommandContext): Promise<SessionReach> {
  const { config } = context;
  try {
    return await openOwnReach(context);
  } catch (cause) {
    if (cause instanceof CorpusError) throw new UsageError(cause.message, { cause });
    if (!(cause instanceof FileHeldError)) {
      throw new UnreachableError(explainOpening(cause, config), { cause });
    }
    const url = readAddress(config);
    if (url !== null) return createRemoteReach(url, openSessionSecret(config, systemRandom));
    throw new UnreachableError('another process holds the sessions, and serves none');
  }
}

async function openOwnReach({ config, stderr }: CommandContext): Promise<SessionReach> {
  const shared = { config, clock: systemClock };
  const progress = createProgressLine(stderr, systemClock);
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
    service = await openSessions({
      ...shared,
      logger: await createLogger('warn', stderr),
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

/** Turns of other sessions may have begun here: they are not cut off, and no more of them begin. */
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
  if (outcome.answer !== null && json) {
    const { message, finishReason, citations, abstained } = outcome.answer;
    const members = { message, finishReason, citations, abstained, sessionId: taken.sessionId };
    stdout.writeJson(toJsonLines([members]));
  }
  if (outcome.kind === 'answered') printed.show(outcome.answer.message);
  printed.end();
  if (outcome.kind === 'failed') throw new CommandError('upstream', outcome.message);
  return outcome.answer.abstained ? exitCodes.notFound : exitCodes.ok;
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

function toCommandError({ code, message, status }: Problem): CommandError {
  const exit = status === 429 || status >= 500 ? 'upstream' : 'usage';
  return new CommandError(exit, `${message} ${advice[code] ?? problemKinds[code].resolution}`);
}
