import { PassThrough } from 'node:stream';
import {
  type Answer,
  createPerch,
  PerchError,
  ProblemError,
  type Turn,
  TurnError,
} from '../../clients/typescript/src/index.ts';
import { createTurn } from '../../clients/typescript/src/turns.ts';
import { createRateLimiter } from '../access/rate-limits.ts';
import { CorpusError } from '../answers/corpus/corpus.ts';
import { createProgressReports } from '../answers/index/index-refresher.ts';
import { openAnswers } from '../answers/open-answers.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { FileLockedError } from '../lib/files/file-lock.ts';
import { Problem, type ProblemCode } from '../lib/problem.ts';
import { systemRandom } from '../lib/random.ts';
import type { Engine } from '../lib/redis/engine.ts';
import { createQuotas } from '../lib/scheduling/quotas.ts';
import { openConfiguredAnswers } from '../server/wiring/answers.ts';
import { toQuotaLimits } from '../server/wiring/bounds.ts';
import { openSessionSecret, openSessions, readAddressFile } from '../server/wiring/sessions.ts';
import { readMessage } from '../sessions/http/requests.ts';
import { createContinuationTokens, keyedHash } from '../sessions/ids.ts';
import {
  demandKnown,
  refuseOtherOwner,
  sendFirstMessage,
  sendFurtherMessage,
} from '../sessions/messages.ts';
import type { SessionService } from '../sessions/service.ts';
import { type CommandContext, CommandError, exitCodes, UsageError } from './command.ts';
import { createLogger } from './logger.ts';
import { explainOpenError } from './output/explain.ts';
import { type Output, toJsonLines } from './output/output.ts';
import { describeSessionPlace } from './sessions.ts';
import { openCommandEngine } from './stores.ts';

export type ProgressLine = ReturnType<typeof createProgressLine>;

/** Shows indexing progress: one updated line on a terminal, elsewhere new lines. */
export function createProgressLine(stderr: Output, clock: Clock) {
  const { report: hear } = createProgressReports({
    clock,
    quietMs: 1000,
    everyMs: stderr.hasStatusLine ? 100 : 2000,
    onReport: ({ read }) => stderr.showProgress(`perch: Building the index: ${read} files read`),
  });
  return { hear, clear: stderr.clearLine };
}

interface SessionQuestion {
  readonly question: string;
  /** Session to continue; `null` for a new one. */
  readonly sessionId: string | null;
  readonly json: boolean;
}

/** Client of the session service, in this process or on a server. Callers must call `close`. */
interface SessionClient {
  /** Asks. @throws Problem or PerchError if the service refuses or cannot be reached */
  ask(question: string, sessionId: string | null): Promise<Turn>;
  readonly close?: () => Promise<void>;
}

interface SessionPlace {
  open(): Promise<SessionClient>;
  /** Returns the message for an answer that did not arrive. */
  explain(error: UnreachableError | PerchError): string;
  readonly showsId: boolean;
}

/** Error for a session service that cannot be reached. The message is written for users. */
class UnreachableError extends Error {}

/** Asks a question in a session, and prints the answer as it arrives. */
export async function askService(
  asked: SessionQuestion,
  { open: openClient, explain, showsId }: SessionPlace,
  context: CommandContext,
) {
  let client: SessionClient | null = null;
  try {
    client = await openClient();
    const turn = await client.ask(asked.question, asked.sessionId);
    if (showsId && asked.sessionId === null) {
      context.stderr.write(`perch: The session ID is ${turn.session.id}.\n`);
    }
    return await printAnswer(turn, asked, context);
  } catch (error) {
    if (error instanceof Problem || error instanceof ProblemError) throw toCommandError(error);
    if (!(error instanceof UnreachableError || error instanceof PerchError)) throw error;
    throw new CommandError('upstream', explain(error), { cause: error });
  } finally {
    await client?.close?.();
  }
}

export const atUrl = (url: string): SessionPlace => ({
  open: async () => createRemoteClient({ baseUrl: url }),
  explain: ({ message }) => `${message} Check the address in --url, or ask again.`,
  showsId: false,
});

/** Answers in this process, unless a running server has locked the sessions; then asks it. */
export function inDataFolder(context: CommandContext): SessionPlace {
  const place = describeSessionPlace(context);
  return {
    open: () => openClientOfFolder(context),
    explain: (error) => {
      const isLost =
        error instanceof PerchError &&
        (error.code === 'connection_lost' || error.code === 'no_response');
      const advice = isLost ? ' Run `perch sessions show ID` to see the answer, or ask again.' : '';
      return `${error.message}${advice}\n${place}`;
    },
    showsId: true,
  };
}

async function openClientOfFolder(context: CommandContext): Promise<SessionClient> {
  const { config } = context;
  try {
    return await openLocalClient(context);
  } catch (cause) {
    if (cause instanceof CorpusError) throw new UsageError(cause.message, { cause });
    if (!(cause instanceof FileLockedError)) {
      throw new UnreachableError(explainOpenError(cause, config), { cause });
    }
    const url = readAddressFile(config);
    if (url === null) {
      throw new UnreachableError('Another process uses the sessions. Try again in a moment.');
    }
    const secret = openSessionSecret(config, systemRandom);
    const options = {
      baseUrl: url,
      sessionsUrl: url,
      bearer: toOperatorBearer(secret),
      retries: 1,
    };
    return createRemoteClient(options, createContinuationTokens(secret).of);
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
      quotas: createQuotas(toQuotaLimits(config)),
      limiter: createRateLimiter(shared),
    });
    await answers.refresh();
    progress.clear();
    return { ask: createLocalClient(service, config.PERCH_SESSION_BIND_BEARER), close };
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

function toOperatorBearer(secret: Buffer): string {
  return keyedHash(secret, 'operator', 'bearer');
}

function createLocalClient(service: SessionService, bindBearer: boolean): SessionClient['ask'] {
  const owner = keyedHash(service.secret, 'owner', toOperatorBearer(service.secret));
  const findOwn = async (id: string) => {
    const record = demandKnown(await service.store.find(id));
    if (bindBearer) refuseOtherOwner(record, owner);
    return record;
  };
  return async (message, id) => {
    const record = id === null ? null : await findOwn(id);
    const { text } = readMessage({ message }, service.limits.messageBytes);
    const { sessionId, deliveryId } = await (record === null
      ? sendFirstMessage({ text, owner, client: null, idempotency: null }, service)
      : sendFurtherMessage({ text, sessionId: record.id, idempotency: null }, service));
    return createTurn({
      session: { id: sessionId, continuationToken: '' },
      deliveryId,
      startIndex: record?.events ?? 0,
      open: (from) => openLocalStream(service, sessionId, from),
      clock: systemClock,
      random: systemRandom.fraction,
      retries: 4,
    });
  };
}

async function openLocalStream(service: SessionService, sessionId: string, startIndex: number) {
  const rest = { startIndex, mode: 'automatic', token: null, client: null } as const;
  const stream = await service.streams.openStream(sessionId, (found) => ({
    record: demandKnown(found),
    ...rest,
  }));
  const parts = new PassThrough();
  void stream.sendTo(parts); // reports failures itself, and then ends the stream
  return { tailIndex: stream.record.events - 1, parts };
}

/** `tokenOf`: continuation token for a session, also one that another client has started. */
function createRemoteClient(
  options: Parameters<typeof createPerch>[0],
  tokenOf: (id: string) => string = () => '',
): SessionClient {
  const { sessions } = createPerch(options);
  return {
    ask: (question, id) => {
      const session = id === null ? undefined : { id, continuationToken: tokenOf(id) };
      return sessions.ask(question, { session });
    },
  };
}

async function printAnswer(turn: Turn, { json }: SessionQuestion, { stdout }: CommandContext) {
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
    return answer.abstained && answer.citations.length === 0 ? exitCodes.notFound : undefined;
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
