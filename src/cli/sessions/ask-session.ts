import {
  type Answer,
  createPerch,
  PerchError,
  ProblemError,
  type Turn,
  TurnError,
} from '../../../clients/typescript/src/index.ts';
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
import { Problem, type ProblemCode } from '../../core/problem.ts';
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

type SessionQuestion = Readonly<{ question: string; sessionId: string | null; json: boolean }>;

/** Answers in this process, unless a running server has locked the sessions; then asks it. */
export async function askSession(question: SessionQuestion, context: CommandContext) {
  const place = describeSessionPlace(context);
  let client: SessionClient | null = null;
  try {
    client = await openClient(context);
    const turn = await client.ask(question.question, question.sessionId);
    if (question.sessionId === null) {
      context.stderr.write(`perch: The session ID is ${turn.session.id}.\n`);
    }
    return await printAnswer(turn, question, context);
  } catch (error) {
    if (error instanceof Problem || error instanceof ProblemError) throw toCommandError(error);
    if (!(error instanceof UnreachableError || error instanceof PerchError)) throw error;
    const fault = `${describeFault(error)}\n${place}`;
    throw new CommandError('upstream', fault, { cause: error });
  } finally {
    await client?.close();
  }
}

type ServerQuestion = Readonly<{ question: string; url: string; json: boolean }>;

/** Asks a question in a new session of a server, and prints the answer as it arrives. */
export async function askServer(asked: ServerQuestion, context: CommandContext): Promise<ExitCode> {
  const { sessions } = createPerch({ baseUrl: asked.url });
  try {
    return await printAnswer(await sessions.ask(asked.question), asked, context);
  } catch (error) {
    if (error instanceof ProblemError) throw toCommandError(error);
    if (!(error instanceof PerchError)) throw error;
    const fault = `${error.message} Check the address in --url, or ask again.`;
    throw new CommandError('upstream', fault, { cause: error });
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
  let redis: Engine | null = null;
  const close = async () => {
    if (service !== null) await closeWhenDone(service);
    redis?.close();
    await answers.close();
  };
  try {
    redis = await openCommandEngine(config);
    service = await openSessions({
      ...shared,
      logger: await createLogger('warn', stderr),
      random: systemRandom,
      engine: answers.engine,
      redis,
      tracing: null,
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

async function closeWhenDone(service: SessionService): Promise<void> {
  service.startDraining();
  while (service.turns.atWork > 0) await systemClock.sleep(10);
  await service.close();
}

async function printAnswer(
  turn: Turn,
  { json }: Pick<SessionQuestion, 'json'>,
  { stdout }: CommandContext,
): Promise<ExitCode> {
  const printed = createTextPrinter((text) => {
    if (!json) stdout.write(text);
  });
  const print = ({ message, finishReason, citations, abstained }: Answer) => {
    const members = { message, finishReason, citations, abstained, sessionId: turn.session.id };
    if (json) stdout.writeJson(toJsonLines([members]));
  };
  try {
    const answer = await turn.answer({ onText: printed.show });
    print(answer);
    printed.show(answer.message);
    return answer.abstained && answer.citations.length === 0 ? exitCodes.notFound : exitCodes.ok;
  } catch (error) {
    if (!(error instanceof TurnError)) throw error;
    if (error.answer !== null) print(error.answer);
    throw new CommandError('upstream', error.message, { cause: error });
  } finally {
    printed.end();
  }
}

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

function toCommandError(error: Problem | ProblemError): CommandError {
  const { code, message, status, resolution } = error;
  const exit = status === 429 || status >= 500 ? 'upstream' : 'usage';
  return new CommandError(exit, `${message} ${advice[code] ?? resolution}`, { cause: error });
}

function describeFault(error: UnreachableError | PerchError): string {
  if (!(error instanceof PerchError)) return error.message;
  const isLost = error.code === 'connection_lost' || error.code === 'no_response';
  if (isLost)
    return `${error.message} Run \`perch sessions show ID\` to see the answer, or ask again.`;
  return error.message;
}
