import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { FastifyInstance } from 'fastify';
import type { RateLimiter } from '../../access/rate-limits.ts';
import type { AnswerEngine } from '../../answers/answer.ts';
import { createIndexRecord } from '../../answers/index/passage-index.ts';
import { createQuestionRecord } from '../../answers/question-record.ts';
import { openThreadedAnswers } from '../../answers/worker/open-threaded-answers.ts';
import type { Config } from '../../config/config.ts';
import { FileLockedError, lockFile } from '../../lib/files/file-lock.ts';
import { giveToOwnerOf } from '../../lib/files/private-files.ts';
import { toLocalUrl } from '../../lib/http/url.ts';
import { Problem } from '../../lib/problem.ts';
import type { Random } from '../../lib/random.ts';
import type { Engine } from '../../lib/redis/engine.ts';
import { UnusableEngineError } from '../../lib/redis/engine-error.ts';
import { createRepeatedLines } from '../../lib/repeated-lines.ts';
import type { Quotas } from '../../lib/scheduling/quotas.ts';
import { openSecret, openSharedSecret } from '../../lib/secret.ts';
import type { CallerRules } from '../../sessions/http/calls.ts';
import {
  openSessionService,
  type ServiceLimits,
  type SessionService,
} from '../../sessions/service.ts';
import type { SessionStore, StoreContext } from '../../sessions/store/session-store.ts';
import { openSharedSessions } from '../../sessions/store/shared/shared-store.ts';
import { openSqliteSessions } from '../../sessions/store/sqlite-store.ts';
import { createStoreFaults } from '../../sessions/store/store-faults.ts';
import type { AppContext, AppOptions } from '../context.ts';
import { openConfiguredAnswers, toLogLines } from './answers.ts';
import { openSharedEngine } from './shared-engine.ts';

interface SessionsOptions extends AppContext {
  readonly engine: AnswerEngine;
  readonly quotas: Quotas;
  readonly limiter: RateLimiter;
}

/** Session service with its answer engine. Call `start` when the server is listening. */
export type AnsweredSessions = NonNullable<Awaited<ReturnType<typeof openAnsweredSessions>>>;

/** Opens the service; `null` if sessions are off. Throws CorpusError if documents are missing. */
export async function openAnsweredSessions(
  options: Omit<SessionsOptions, 'engine'> & Pick<AppOptions, 'engine'>,
) {
  const { engine, config, clock, logger } = options;
  if (!config.PERCH_SESSIONS) return null;
  const questions = createQuestionRecord({ clock, keep: config.PERCH_KEEP_DECLINED_QUESTIONS });
  if (engine !== undefined) {
    const watched = questions.watch(engine);
    const service = await openSessions({ ...options, engine: watched });
    const records = { questions, index: null };
    return { service, engine: watched, records, start: () => {}, close: () => service.close() };
  }
  const lines = toLogLines(logger, clock);
  const index = createIndexRecord(clock, lines);
  const recorded = { ...lines, ...index.callbacks };
  const answers = openConfiguredAnswers({ config, clock, open: openThreadedAnswers, ...recorded });
  const watched = questions.watch(answers.engine);
  const records = { questions, index };
  try {
    const service = await openSessions({ ...options, engine: watched });
    const close = () => service.close().finally(() => answers.close());
    return { service, engine: watched, records, start: answers.keepCurrent, close };
  } catch (error) {
    await answers.close();
    throw error;
  }
}

/** Opens the service. Throws FileLockedError if the store is in use, Error if it is unusable. */
export async function openSessions(options: SessionsOptions): Promise<SessionService> {
  const { config, clock, logger, random, redis } = options;
  const faults = createStoreFaults({
    clock,
    onFault: (reason) => logger.error({ reason }, 'the session store cannot be used'),
    onRecovered: () => logger.info('the session store works again'),
  });
  const repeated = createRepeatedLines(clock);
  const onFault = (err: unknown, doing: string) => {
    // `faults` reports failures of the store.
    if (err instanceof Problem && err.code === 'not_ready') return;
    repeated(`${doing} ${err instanceof Error ? err.name : ''}`, (count) =>
      logger.error({ err, doing, ...count }, 'the session service failed'),
    );
  };
  const basics = { ...options, limits: toServiceLimits(config), onFault, faults };
  if (redis === null) {
    const openOwn = (context: StoreContext) => openStore(toSessionsPath(config), context);
    const secret = openSessionSecret(config, random);
    return openSessionService({ ...basics, secret, openStore: openOwn });
  }
  const shared = await openSharedStore({ ...options, redis, onFault });
  return openSessionService({ ...basics, ...shared });
}

type SharedStoreOptions = SessionsOptions & {
  readonly redis: Engine;
  readonly onFault: (error: unknown, doing: string) => void;
};

/** Timeout in milliseconds for requests of the session store to the Valkey or Redis server. */
const sessionTimeoutMs = 2000;

const silentLogger = { info: () => {}, error: () => {} };

async function openSharedStore(options: SharedStoreOptions) {
  const { config, random, redis } = options;
  const { instance } = redis;
  // The other connection counts the process as an instance, unless it is a command.
  const connection = { instance, isCounted: false, timeoutMs: sessionTimeoutMs };
  // The other connection to the engine logs outages, so this connection does not.
  const engine =
    (await openSharedEngine({ ...options, logger: silentLogger }, connection)) ?? redis;
  try {
    await refuseVolatile(engine, config);
    const secret = await openSharedSecret(engine, 'session', random);
    const replicas = config.PERCH_REDIS_WAIT_REPLICAS;
    const openStore = (context: StoreContext): SessionStore => {
      const store = openSharedSessions({ ...options, ...context, engine, replicas });
      const close = async () => {
        await store.close();
        engine.close();
      };
      return { ...store, close };
    };
    return { secret, openStore };
  } catch (error) {
    engine.close();
    throw error;
  }
}

/** @throws UnusableEngineError if a restart of the engine would delete sessions */
export async function refuseVolatile(engine: Engine, config: Config): Promise<void> {
  if (config.PERCH_REDIS_ALLOW_VOLATILE) return;
  const answers = await engine.info('persistence').catch((cause: Error) => {
    const fault = `Perch cannot check whether the shared engine stores sessions durably: ${cause.message}. Allow the command INFO, or set PERCH_REDIS_ALLOW_VOLATILE=true if sessions may be lost.`;
    throw new UnusableEngineError(fault, { cause });
  });
  if (answers.every((text) => /^aof_enabled:1\r?$/m.test(text))) return;
  throw new UnusableEngineError(
    'The shared engine does not store sessions durably, because its append-only file is off. Set `appendonly yes` in its configuration. If sessions may be lost, set PERCH_REDIS_ALLOW_VOLATILE=true; to run without sessions, set PERCH_SESSIONS=off.',
  );
}

/** Returns the secret for tokens and owner hashes, from the data folder or only in memory. */
export function openSessionSecret({ PERCH_DATA_DIR: folder }: Config, random: Random): Buffer {
  return folder === ':memory:' ? random.bytes(32) : openSecret(`${folder}/session.key`, random);
}

/** Returns the path of the session database; `:memory:` if sessions are stored in memory. */
export function toSessionsPath(config: Config): string {
  const { PERCH_DATA_DIR: folder, PERCH_SESSION_STORE: kind } = config;
  return folder === ':memory:' || kind === 'memory' ? ':memory:' : `${folder}/sessions.db`;
}

function openStore(path: string, options: StoreContext): SessionStore {
  if (path === ':memory:') return openSqliteSessions({ path, ...options });
  const hold = lockOrExplain(path);
  try {
    const store = openSqliteSessions({ path, ...options });
    const close = async () => {
      await store.close();
      hold.release();
    };
    return { ...store, close };
  } catch (error) {
    hold.release();
    throw error;
  }
}

function lockOrExplain(path: string) {
  try {
    return lockFile(`${path}.lock`);
  } catch (cause) {
    if (!(cause instanceof FileLockedError)) throw cause;
    const fault = `Another process uses the sessions in ${path}. Stop it, set PERCH_DATA_DIR to another folder, or set PERCH_SESSIONS=off.`;
    throw new FileLockedError(fault, { cause });
  }
}

/** Writes the base URL to a file for `perch ask --session` while the server listens. */
export function writeAddressFile(server: FastifyInstance, config: Config): void {
  const path = toAddressPath(config);
  if (path === null) return;
  server.addHook('onListen', (done) => {
    const address = server.server.address();
    if (typeof address === 'object' && address !== null) {
      const url = `${toLocalUrl(address.address, address.port)}/${config.PERCH_SESSION_PREFIX}/v1`;
      writeFileSync(path, `${url}\n`, { mode: 0o600 });
      giveToOwnerOf(config.PERCH_DATA_DIR, path);
    }
    done();
  });
  server.addHook('onClose', async () => rmSync(path, { force: true }));
}

/** Returns the base URL that `writeAddressFile` wrote; `null` if there is no file. */
export function readAddressFile(config: Config): string | null {
  const path = toAddressPath(config);
  try {
    return path === null ? null : readFileSync(path, 'utf8').trim();
  } catch {
    return null; // the server does not listen yet, or no longer
  }
}

function toAddressPath(config: Config): string | null {
  const path = toSessionsPath(config);
  return path === ':memory:' ? null : `${path}.address`;
}

export function toCallerRules(config: Config): CallerRules {
  return {
    requireBearer: config.PERCH_SESSION_REQUIRE_BEARER,
    bindBearer: config.PERCH_SESSION_BIND_BEARER,
    token: config.PERCH_SESSION_TOKEN,
    streamToken: config.PERCH_SESSION_STREAM_TOKEN,
  };
}

export function toServiceLimits(config: Config): ServiceLimits {
  return {
    messageBytes: config.PERCH_SESSION_MESSAGE_BYTES,
    bodyBytes: config.PERCH_SESSION_BODY_BYTES,
    turnMs: config.PERCH_SESSION_TURN_SECONDS * 1000,
    // A turn mostly waits for the disk, or for the endpoint of a language model.
    turnsAtOnce: config.PERCH_SESSION_TURNS_AT_ONCE ?? availableParallelism() * 8,
    queue: config.PERCH_SESSION_QUEUE,
    turns: config.PERCH_SESSION_TURNS,
    sessionBytes: config.PERCH_SESSION_BYTES_PER_SESSION,
    startsPerMinute: config.PERCH_SESSION_STARTS_PER_MINUTE,
    startBurst: config.PERCH_SESSION_START_BURST,
    // Each answer of a language model costs the operator money.
    messagesPerMinute:
      config.PERCH_SESSION_TURNS_PER_MINUTE ?? (config.PERCH_MODEL_URL === undefined ? 1200 : 60),
    streamsPerSession: config.PERCH_SESSION_STREAMS_PER_SESSION,
    idleMs: config.PERCH_SESSION_IDLE_SECONDS * 1000,
    ageMs: config.PERCH_SESSION_AGE_SECONDS * 1000,
    retentionMs: config.PERCH_SESSION_RETENTION_SECONDS * 1000,
    forgetMs: config.PERCH_SESSION_FORGET_SECONDS * 1000,
    heartbeatMs: config.PERCH_SESSION_HEARTBEAT_SECONDS * 1000,
    leaseMs: config.PERCH_SESSION_LEASE_SECONDS * 1000,
    followMs: config.PERCH_SESSION_FOLLOW_SECONDS * 1000,
    stallMs: config.PERCH_SESSION_STALL_SECONDS * 1000,
  };
}
