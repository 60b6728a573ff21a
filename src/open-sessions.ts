import { availableParallelism } from 'node:os';
import type { FastifyBaseLogger } from 'fastify';
import type { AnswerEngine } from './answers/answer.ts';
import type { Config } from './config.ts';
import type { Clock } from './core/clock.ts';
import { type FileHold, HeldFileError, holdFile } from './core/file-hold.ts';
import type { Random } from './core/random.ts';
import { openSecret } from './core/secret.ts';
import type { CallerRules } from './sessions/calls.ts';
import { openSessionService, type ServiceLimits, type SessionService } from './sessions/service.ts';
import { openSqliteSessions } from './sessions/sqlite-store.ts';
import type { SessionStore, StampEvent } from './sessions/store.ts';

/** What sessions are built of. */
export interface SessionsOpening {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: FastifyBaseLogger;
  readonly engine: AnswerEngine;
}

/**
 * Opens the session service as it is configured. Close it with `close()`.
 *
 * @throws Error where its files cannot be used, or another process serves the sessions of the folder
 */
export function openSessions(options: SessionsOpening): Promise<SessionService> {
  const { config, clock, random, logger, engine } = options;
  const folder = config.PERCH_DATA_DIR;
  return openSessionService({
    engine,
    clock,
    random,
    secret: folder === ':memory:' ? random.bytes(32) : openSecret(`${folder}/session.key`, random),
    limits: toServiceLimits(config),
    openStore: (stamp) => openStore(toSessionsPath(config), stamp),
    onFault: (err, doing) => logger.error({ err, doing }, 'fault in the session service'),
  });
}

/** Gives the path of the file of sessions; `:memory:` for none. */
export function toSessionsPath(config: Config): string {
  const { PERCH_DATA_DIR: folder, PERCH_SESSION_STORE: kind } = config;
  return folder === ':memory:' || kind === 'memory' ? ':memory:' : `${folder}/sessions.db`;
}

/** Two servers on one file would each take the other's turns for interrupted ones. */
function openStore(path: string, stamp: StampEvent): SessionStore {
  if (path === ':memory:') return openSqliteSessions({ path, stamp });
  const hold = holdOrExplain(path);
  try {
    const store = openSqliteSessions({ path, stamp });
    const close = () => {
      store.close();
      hold.release();
    };
    return { ...store, close };
  } catch (error) {
    hold.release();
    throw error;
  }
}

function holdOrExplain(path: string): FileHold {
  try {
    return holdFile(`${path}.lock`);
  } catch (cause) {
    if (!(cause instanceof HeldFileError)) throw cause;
    throw new HeldFileError(
      `another process serves the sessions in ${path}; stop it, give this one a folder of its own, or set PERCH_SESSIONS=off`,
      { cause },
    );
  }
}

/** Gives what the operator demands of callers. */
export function toCallerRules(config: Config): CallerRules {
  return {
    requireBearer: config.PERCH_SESSION_REQUIRE_BEARER,
    bindBearer: config.PERCH_SESSION_BIND_BEARER,
    token: config.PERCH_SESSION_TOKEN,
    streamToken: config.PERCH_SESSION_STREAM_TOKEN,
  };
}

function toServiceLimits(config: Config): ServiceLimits {
  return {
    messageBytes: config.PERCH_SESSION_MESSAGE_BYTES,
    bodyBytes: config.PERCH_SESSION_BODY_BYTES,
    turnMs: config.PERCH_SESSION_TURN_SECONDS * 1000,
    turnsAtOnce: config.PERCH_SESSION_TURNS_AT_ONCE ?? availableParallelism(),
    queue: config.PERCH_SESSION_QUEUE,
    turns: config.PERCH_SESSION_TURNS,
    live: config.PERCH_SESSION_LIVE,
    startsPerMinute: config.PERCH_SESSION_STARTS_PER_MINUTE,
    startBurst: config.PERCH_SESSION_START_BURST,
    streamsPerSession: config.PERCH_SESSION_STREAMS_PER_SESSION,
    streams: config.PERCH_SESSION_STREAMS,
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
