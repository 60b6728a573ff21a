import { join } from 'node:path';
import {
  type AdminSessions,
  createAdminSessions,
  createInstanceAdminSessions,
  createSharedAdminSessions,
} from '../../access/admin-sessions.ts';
import {
  type ArchiveReporter,
  createArchiveReporter,
} from '../../archive/report/archive-report.ts';
import { describeSettings } from '../../config/shown-settings.ts';
import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import type { Engine } from '../../lib/redis/engine.ts';
import type { EngineReport } from '../../lib/redis/engine-report.ts';
import { version } from '../../lib/version.ts';
import { type AnswersFigures, renderAnswers } from '../../routes/dashboard/answers/answers-page.ts';
import { type ArchiveFigures, renderArchive } from '../../routes/dashboard/archive/archive-page.ts';
import {
  type Notices,
  renderConfiguration,
} from '../../routes/dashboard/configuration/configuration-page.ts';
import { createKeysSection } from '../../routes/dashboard/keys/keys-section.ts';
import {
  createOverviewSection,
  type OverviewFigures,
  type ProviderFigures,
  type SessionFigures,
} from '../../routes/dashboard/overview/overview-page.ts';
import type { TrafficName } from '../../routes/dashboard/overview/traffic.ts';
import {
  answersPath,
  archivePath,
  configurationPath,
  createFigureSection,
  type DashboardSection,
} from '../../routes/dashboard/pages.ts';
import { historyMinutes, openMinuteHistory } from '../../routes/monitoring/minute-history.ts';
import { toExampleHandle } from '../../routes/pages/front/page.ts';
import type { Services } from './services.ts';

/** Creates the store of logins. With a shared engine, a login is valid at every instance. */
export function createSessionsOfDashboard(clock: Clock, engine: Engine | null): AdminSessions {
  const own = createAdminSessions(clock);
  return engine === null
    ? own
    : createInstanceAdminSessions(createSharedAdminSessions(engine), own);
}

/** Opens the sections of the dashboard, in the order of the navigation. */
export function openSections(services: Services, readEngine: ReadEngine) {
  const { access, config, clock, random, site, settings } = services;
  const { PERCH_DATA_DIR: folder } = config;
  const history = openHistory(services);
  const archive = createArchiveReporter(
    folder === ':memory:' ? folder : join(folder, 'archive.db'),
  );
  const recorded = { history, startedMs: clock.now(), readEngine };
  const sections: readonly DashboardSection[] = [
    createOverviewSection(site, () => readOverview(services, recorded)),
    createKeysSection({
      ...{ keys: access.keys, random, site, handle: toExampleHandle(site) },
      defaults: {
        allowance: config.PERCH_KEY_ALLOWANCE,
        windowSeconds: config.PERCH_ALLOWANCE_WINDOW_SECONDS,
      },
    }),
    createFigureSection({ path: archivePath, text: 'Archive' }, async () =>
      renderArchive(await readArchive(services, archive), site),
    ),
    createFigureSection({ path: answersPath, text: 'Answers' }, () =>
      renderAnswers(readAnswers(services), site),
    ),
    createFigureSection({ path: configurationPath, text: 'Configuration' }, () => {
      const notices = listNotices(services, readEngine);
      return renderConfiguration({ settings: describeSettings(config, settings), notices }, site);
    }),
  ];
  const close = () => {
    history.close();
    archive.close();
  };
  return { sections, close };
}

/** Reader of the engine's last known state; `undefined` if instances share no engine. */
export type ReadEngine = (() => EngineReport) | undefined;

type ProviderCounter = `${string} answered` | `${string} failed`;

type History = ReturnType<typeof openHistory>;

function openHistory({ clock, traffic, requestIds, fetching: { chain } }: Services) {
  const { records } = chain;
  return openMinuteHistory<TrafficName | ProviderCounter>({
    clock,
    read: () => ({
      ...traffic.totals(),
      requests: requestIds.count,
      ...Object.fromEntries(
        records.names.flatMap((name): [ProviderCounter, number][] => {
          const { answered = 0, failed = 0 } = records.of(name) ?? {};
          return [
            [`${name} answered`, answered],
            [`${name} failed`, failed],
          ];
        }),
      ),
    }),
  });
}

interface Recorded {
  readonly history: History;
  readonly startedMs: number;
  readonly readEngine: ReadEngine;
}

async function readOverview(services: Services, recorded: Recorded): Promise<OverviewFigures> {
  const { config, clock, fetching, access, work, load, redis } = services;
  const { history, startedMs, readEngine } = recorded;
  const { rss: resident, heapUsed: heap } = process.memoryUsage();
  const hour = history.list(60, 1);
  const engine = readEngine?.();
  const { instance } = redis ?? {};
  return {
    version,
    nowMs: clock.now(),
    startedMs,
    shared: engine === undefined || instance === undefined ? null : { instance, engine },
    hour,
    day: history.list(historyMinutes / 15, 15),
    cache: {
      entries: fetching.cache.size,
      bytes: fetching.cache.bytes,
      maxBytes: config.PERCH_CACHE_BYTES,
    },
    pool: await access.allowances.poolUse(),
    providers: listProviders(services, hour),
    readsInFlight: work.inFlight,
    sessions: await readSessions(services),
    memory: { resident, heap },
    isOverloaded: load.isHigh,
    eventLoop: load.delay ?? null,
    notices: Object.values(listNotices(services, readEngine)).flat().length,
  };
}

function listProviders(
  { fetching: { chain } }: Services,
  hour: ReturnType<History['list']>,
): readonly ProviderFigures[] {
  const holds = chain.holds();
  return chain.states().map(({ name, platforms }) => {
    const sum = (counter: ProviderCounter) =>
      hour.reduce((all, { counts }) => all + (counts[counter] ?? 0), 0);
    return {
      name,
      platforms,
      holds: holds.get(name) ?? [],
      lastHour: { answered: sum(`${name} answered`), failed: sum(`${name} failed`) },
      lastFailure: chain.records.of(name)?.lastFailure ?? null,
    };
  });
}

async function readSessions({
  config,
  sessions,
  logger,
}: Services): Promise<SessionFigures | 'unavailable' | null> {
  if (sessions === null) return null;
  try {
    const { limits, figures } = sessions.service;
    const { turnsAtOnce } = limits;
    return { ...(await figures()), turnsAtOnce, maxWaiting: config.PERCH_SESSION_WAITING_TURNS };
  } catch (err) {
    // The store reports its own failures.
    if (!(err instanceof Problem)) {
      logger.warn({ err }, 'the figures of the sessions cannot be read');
    }
    return 'unavailable';
  }
}

async function readArchive(
  { config, clock }: Services,
  archive: ArchiveReporter,
): Promise<ArchiveFigures> {
  return {
    nowMs: clock.now(),
    report: await archive.read(),
    isInMemory: config.PERCH_DATA_DIR === ':memory:',
    hasSample: config.PERCH_SAMPLE,
    keepsHistories: config.PERCH_ARCHIVE_HISTORY,
  };
}

function readAnswers({ config, clock, sessions }: Services): AnswersFigures | null {
  if (sessions === null) return null;
  const { engine, records } = sessions;
  const { questions, index } = records;
  return {
    nowMs: clock.now(),
    corpus: config.PERCH_CORPUS,
    index: index?.read() ?? null,
    isReady: engine.isReady,
    modelId: engine.modelId,
    hasModel: config.PERCH_MODEL_URL !== undefined,
    counts: questions.counts,
    lastFallback: questions.lastFallback,
    declined: questions.listDeclined(),
    keep: questions.keep,
  };
}

function listNotices({ startWarnings, sessions }: Services, readEngine: ReadEngine): Notices {
  const engine = readEngine?.();
  const failure = sessions?.records.index?.read().failure;
  const storeFault = sessions?.service.health.fault;
  const faults = [
    engine?.fault && `The shared engine is down: ${engine.fault}`,
    storeFault && `The stored sessions cannot be used: ${storeFault}`,
    failure && `The index of the documents could not be updated: ${failure.message}`,
  ];
  return {
    faults: faults.filter((fault): fault is string => Boolean(fault)),
    warnings: [...startWarnings, ...(engine?.warnings ?? [])],
  };
}
