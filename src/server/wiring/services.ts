import type { Settings } from '../../config/sources.ts';
import type { CleanupStack } from '../../lib/scheduling/cleanup-stack.ts';
import {
  createHeavyTurns,
  createServerLoop,
  type HeavyTurns,
  type ServerLoop,
} from '../../lib/scheduling/fair-queue.ts';
import { openTracing } from '../../lib/tracing/tracing.ts';
import type { Identification } from '../../routes/key-status/plugin.ts';
import {
  createWork,
  type LoadGauge,
  openLoadGauge,
  type Work,
} from '../../routes/monitoring/load.ts';
import { createTraffic, type Traffic } from '../../routes/monitoring/traffic.ts';
import type { FrontSite } from '../../routes/pages/front/page.ts';
import type { AppContext, AppOptions } from '../context.ts';
import { type Access, openAccess } from './access.ts';
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
  const { ledger } = access;
  const { countAnswer } = traffic;
  const { pool } = access.allowances;
  const bounded = { ...context, ledger, heavyTurns, countAnswer, pool };
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
