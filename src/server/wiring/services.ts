import type { FastifyRequest } from 'fastify';
import { createAllowances } from '../../access/allowances.ts';
import { createAddressReader, createConnectionReader } from '../../access/client-address.ts';
import { type KeyStore, openKeyStore } from '../../access/keys/key-store.ts';
import { openSharedKeys } from '../../access/keys/shared-keys.ts';
import { type Charge, createRateLimiter } from '../../access/rate-limits.ts';
import { createSharedRateLimiter } from '../../access/shared-rate-limits.ts';
import type { Settings } from '../../config/sources.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CleanupStack } from '../../lib/scheduling/cleanup-stack.ts';
import {
  createHeavyTurns,
  createServerLoop,
  type HeavyTurns,
  type ServerLoop,
} from '../../lib/scheduling/fair-queue.ts';
import { createQuotas } from '../../lib/scheduling/quotas.ts';
import { openSharedSecret } from '../../lib/secret.ts';
import { openTracing } from '../../lib/tracing/tracing.ts';
import { createIdentification, type Identification } from '../../routes/key-status/plugin.ts';
import {
  createWork,
  type LoadGauge,
  openLoadGauge,
  type Work,
} from '../../routes/monitoring/load.ts';
import { createTraffic, type Traffic } from '../../routes/monitoring/traffic.ts';
import type { FrontSite } from '../../routes/pages/front/page.ts';
import type { AppContext, AppOptions } from '../context.ts';
import { toAllowanceLimits, toQuotaLimits } from './bounds.ts';
import { toSite } from './documents.ts';
import { type Fetching, openFetching } from './fetching.ts';
import { type AnsweredSessions, openAnsweredSessions } from './sessions.ts';
import { openSharedEngine } from './shared-engine.ts';

/** Everything that the routes of the server use. */
export interface Services extends AppContext {
  readonly site: FrontSite;
  readonly loop: ServerLoop;
  readonly heavyTurns: HeavyTurns;
  readonly identification: Identification;
  readonly access: Access;
  readonly fetching: Fetching;
  readonly sessions: AnsweredSessions | null;
  readonly traffic: Traffic;
  readonly work: Work;
  readonly load: LoadGauge;
  readonly requestIds: RequestIds;
  readonly settings: Settings;
  /** Warnings about the settings, collected at the start, for the dashboard. */
  readonly startWarnings: readonly string[];
}

/** Opens the services in the order in which they need each other; `opened` closes them. */
export async function openServices(options: AppOptions, opened: CleanupStack): Promise<Services> {
  const { config, settings = new Map(), startWarnings = [], tracing = openTracing() } = options;
  const redis = await openSharedEngine(options);
  if (redis !== null) opened.add(redis.close);
  const context = { ...options, tracing, redis };
  const access = await openAccess(context);
  opened.add(access.close);
  const traffic = createTraffic();
  const loop = createServerLoop();
  const heavyTurns = createHeavyTurns(loop);
  const { quotas } = access;
  const { countAnswer } = traffic;
  const { pool } = access.allowances;
  const bounded = { ...context, quotas, heavyTurns, countAnswer, pool };
  const fetching = await openFetching(bounded);
  opened.add(fetching.close);
  const sessions = await openAnsweredSessions({ ...bounded, limiter: access.limiter });
  if (sessions !== null) opened.add(sessions.close);
  const load = options.load ?? openLoadGauge(config.PERCH_MAX_EVENT_LOOP_DELAY_MS);
  opened.add(() => load.close());
  return {
    ...context,
    ...{ settings, startWarnings, access, traffic, loop, heavyTurns, fetching, sessions, load },
    identification: options.identification ?? access.identification,
    site: toSite(context, fetching.context, sessions !== null),
    work: createWork(),
    requestIds: createRequestIds(options.random),
  };
}

type RequestIds = ReturnType<typeof createRequestIds>;

/** Creates a generator of ids: a random prefix for the process and a counter. */
function createRequestIds(random: AppContext['random']) {
  const prefix = random.bytes(6).toString('base64url');
  let count = 0;
  return {
    next: (): string => {
      count += 1;
      return `${prefix}-${count.toString(36)}`;
    },
    /** Number of requests since the start of the process. */
    get count() {
      return count;
    },
  };
}

export type Access = Awaited<ReturnType<typeof openAccess>>;

/** Opens keys, limits and identification. Logs an unreadable key file instead of throwing. */
async function openAccess(options: AppContext) {
  const { config, clock, logger, redis: engine } = options;
  const keys = engine === null ? openKeyFileStore(options) : openSharedKeys({ ...options, engine });
  const { sessions, ...limiters } = await openRateLimiters(options);
  const allowances = createAllowances(limiters, toAllowanceLimits(config));
  const readAddress = createAddressReader({
    trusted: config.PERCH_TRUST_PROXY,
    // The address is not logged, because without a proxy it belongs to a caller.
    onIgnored: () =>
      logger.warn(
        'Perch ignores X-Forwarded-For headers. If your proxy sends them, add it to PERCH_TRUST_PROXY',
      ),
  });
  const clientOf = ({ raw }: FastifyRequest) => readAddress(raw);
  return {
    keys,
    allowances,
    /** Limiter of session starts and messages. */
    limiter: sessions,
    clientOf,
    /** Returns the client of a connection; `null` for a trusted proxy. */
    connectionOf: createConnectionReader(config.PERCH_TRUST_PROXY),
    quotas: createQuotas(toQuotaLimits(config)),
    identification: createIdentification({ keys, allowances, clock, clientOf }),
    close: () => keys.close(),
  };
}

function openKeyFileStore({ config, clock, random, logger }: AppContext): KeyStore {
  const folder = config.PERCH_DATA_DIR;
  return openKeyStore({
    path: folder === ':memory:' ? folder : `${folder}/perch.db`,
    clock,
    random,
    ...toKeyLogLines(logger, clock),
  });
}

const reportMs = 60_000;

function toKeyLogLines(logger: AppContext['logger'], clock: Clock) {
  let reportedMs = Number.NEGATIVE_INFINITY;
  let isReported = false;
  return {
    onTrouble: (reason: string, error: unknown): void => {
      if (Math.abs(clock.now() - reportedMs) < reportMs) return;
      [isReported, reportedMs] = [true, clock.now()];
      const cause = error instanceof Error ? error.message : undefined;
      logger.error({ reason, cause }, 'the key store cannot be read');
    },
    onRecovered: (): void => {
      if (isReported) logger.info('the key store can be read again');
      isReported = false;
    },
  };
}

/** Opens limiters, separate so that accounts of one cannot make another forget its accounts. */
async function openRateLimiters({ clock, random, redis: engine }: AppContext) {
  if (engine === null) {
    const open = () => createRateLimiter({ clock });
    return { callers: open(), pool: open(), sessions: open() };
  }
  const secret = await openSharedSecret(engine, 'addresses', random);
  const open = (tagOf: (charges: readonly Charge[]) => string) =>
    createSharedRateLimiter({ engine, clock, secret, tagOf });
  return {
    // An address is charged together with its network, which is the last charge.
    callers: open((charges) => charges.at(-1)?.account ?? ''),
    pool: open(() => 'pool'),
    sessions: open(() => 'sessions'),
  };
}
