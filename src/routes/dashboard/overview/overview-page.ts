import type { QueryHold } from '../../../fetching/chain/provider-chain.ts';
import type { ProviderRecord } from '../../../fetching/chain/provider-records.ts';
import type { EngineReport } from '../../../lib/redis/engine-report.ts';
import type { QueryKind } from '../../../model/queries.ts';
import type { Platform } from '../../../model/reference.ts';
import { platformNames } from '../../../model/reference.ts';
import { escapeHtml } from '../../../render/html/markup.ts';
import type { EventLoopDelay } from '../../monitoring/load.ts';
import { renderLink, type Site, toLink } from '../../pages/layout.ts';
import {
  countOf,
  formatBytes,
  formatCount,
  formatDuration,
  formatMs,
  formatShare,
  renderPast,
  renderTiles,
  renderTime,
  type Tile,
} from '../numbers.ts';
import { configurationPath, type DashboardSection, dashboardPath, overviewPart } from '../pages.ts';
import { cacheUse, renderTraffic, type TrafficFigures, total } from './traffic.ts';

/** Data of one server instance. Times are epoch milliseconds. */
export interface OverviewFigures extends TrafficFigures {
  readonly version: string;
  readonly nowMs: number;
  readonly startedMs: number;
  /** Instance name and state of the shared Redis or Valkey server; `null` for a single instance. */
  readonly shared: { readonly instance: string; readonly engine: EngineReport } | null;
  readonly cache: Readonly<Record<'entries' | 'bytes' | 'maxBytes', number>>;
  readonly pool: Readonly<Record<'used' | 'limit' | 'windowSeconds', number>>;
  readonly providers: readonly ProviderFigures[];
  readonly readsInFlight: number;
  /** Session counts; `null` if sessions are turned off, `unavailable` if the store fails. */
  readonly sessions: SessionFigures | 'unavailable' | null;
  readonly memory: Readonly<Record<'resident' | 'heap', number>>;
  readonly isOverloaded: boolean;
  /** Delay of the event loop; `null` if it is not measured. */
  readonly eventLoop: EventLoopDelay | null;
  /** Number of faults and warnings that the page *Configuration* shows. */
  readonly notices: number;
}

export interface ProviderFigures {
  readonly name: string;
  readonly platforms: readonly Platform[];
  /** Kinds of query for which Perch currently sends no requests to the provider, with reasons. */
  readonly holds: readonly QueryHold[];
  readonly lastHour: Readonly<Record<'answered' | 'failed', number>>;
  readonly lastFailure: ProviderRecord['lastFailure'];
}

export type SessionFigures = Readonly<
  Record<
    | 'live'
    | 'turnsAtWork'
    | 'turnsAtOnce'
    | 'turnsWaiting'
    | 'maxWaiting'
    | 'streams'
    | 'storedBytes',
    number
  >
>;

/** Interval in seconds of the refresh by `admin-overview.js`. */
const refreshSeconds = 10;

/** Renders the body of the page *Overview*. A script replaces the content of `#live`. */
function renderOverview(figures: OverviewFigures, site: Site): string {
  return `<div class="page-head">
<h1>Overview</h1>
<button type="button" class="button" id="pause" hidden>Pause updates</button>
</div>
<p id="live-status" class="live-status" role="status"></p>
<div id="live" data-part="${escapeHtml(toLink(overviewPart, site))}" data-seconds="${refreshSeconds}">
${renderFigures(figures, site)}
</div>`;
}

function renderFigures(figures: OverviewFigures, site: Site): string {
  return `${renderNow(figures)}
${renderAlerts(figures, site)}
${renderTiles(listTiles(figures))}
${renderTraffic(figures)}
${renderProviders(figures.providers, figures.nowMs)}
${renderSessions(figures.sessions)}`;
}

function renderNow({ version, startedMs, nowMs, shared }: OverviewFigures): string {
  const running = `Perch ${escapeHtml(version)}, running for ${formatDuration(nowMs - startedMs)}. Figures from ${renderTime(nowMs)}.`;
  if (shared === null) return `<p class="soft">${running}</p>`;
  const { instance, engine } = shared;
  return `<p class="soft">${running}</p>
<p class="soft">These are the figures of the instance <code>${escapeHtml(instance)}</code>, one of ${countOf(engine.instances, 'instance')}. The upstream pool and the sessions are shared by all instances.</p>`;
}

function renderAlerts(figures: OverviewFigures, site: Site): string {
  const { isOverloaded, shared, providers, notices } = figures;
  const paused = providers.filter(({ holds }) => holds.length > 0).map(({ name }) => name);
  const alerts = [
    ...(isOverloaded ? ['The server is overloaded, and refuses reads.'] : []),
    ...(shared?.engine.fault ? [`The shared engine is down: ${shared.engine.fault}`] : []),
    ...(paused.length > 0 ? [`Perch pauses requests to ${paused.join(', ')}.`] : []),
  ].map((alert) => `<li>${escapeHtml(alert)}</li>`);
  if (notices > 0) {
    const link = renderLink(configurationPath, 'configuration', site);
    alerts.push(
      `<li>There ${notices === 1 ? 'is 1 notice' : `are ${notices} notices`} about the ${link}.</li>`,
    );
  }
  return alerts.length === 0
    ? ''
    : `<ul class="alerts" aria-label="Needs attention">${alerts.join('')}</ul>`;
}

function listTiles(figures: OverviewFigures): readonly Tile[] {
  return [
    ...listTrafficTiles(figures),
    toPoolTile(figures.pool),
    {
      name: 'Reads in progress',
      value: formatCount(figures.readsInFlight),
      note: figures.isOverloaded ? 'Further reads are refused.' : 'New reads are accepted.',
    },
    {
      name: 'Memory',
      value: formatBytes(figures.memory.resident),
      note: `${formatBytes(figures.memory.heap)} of JavaScript objects`,
    },
    toDelayTile(figures.eventLoop),
  ];
}

function listTrafficTiles({ hour, cache }: OverviewFigures): readonly Tile[] {
  const requests = total(hour, 'requests');
  const [server, client] = [total(hour, 'serverErrors'), total(hour, 'clientErrors')];
  const { fromCache, reads } = cacheUse(hour);
  return [
    {
      name: 'Requests, last hour',
      value: formatCount(requests),
      note: 'including health checks and this page',
    },
    {
      name: 'Error responses, last hour',
      value: formatCount(server + client),
      note: `${formatCount(server)} with a 5xx status, ${formatCount(client)} with a 4xx status`,
    },
    {
      name: 'Answered from the cache, last hour',
      value: formatShare(fromCache, reads) ?? 'No reads',
      note: `${formatCount(fromCache)} of ${countOf(reads, 'read')}`,
    },
    {
      name: 'Cache',
      value: formatBytes(cache.bytes),
      note: `of ${formatBytes(cache.maxBytes)}, ${countOf(cache.entries, 'entry', 'entries')}`,
      used: cache.bytes / cache.maxBytes,
    },
  ];
}

function toPoolTile({ used, limit, windowSeconds }: OverviewFigures['pool']): Tile {
  return {
    name: `Upstream pool, last ${windowSeconds} seconds`,
    value: `${formatCount(Math.max(0, limit - used))} left`,
    note: `${formatCount(used)} of ${countOf(limit, 'request')} used`,
    used: used / limit,
  };
}

function toDelayTile(delay: OverviewFigures['eventLoop']): Tile {
  const name = 'Event-loop delay';
  if (delay === null) {
    const note = 'PERCH_MAX_EVENT_LOOP_DELAY_MS is 0.';
    return { name, value: 'Not measured', note };
  }
  return {
    name,
    value: formatMs(delay.nowMs),
    note: `at most ${formatMs(delay.highestMs)} in the last minute`,
  };
}

function renderSessions(sessions: OverviewFigures['sessions']): string {
  return `<section aria-labelledby="sessions">
<h2 id="sessions">Sessions</h2>
${sessions === null ? '<p>Sessions are turned off (<code>PERCH_SESSIONS</code>).</p>' : renderSessionTiles(sessions)}
</section>`;
}

function renderSessionTiles(sessions: NonNullable<OverviewFigures['sessions']>): string {
  if (sessions === 'unavailable')
    return '<p>The store of the sessions does not answer, so there are no figures.</p>';
  const { live, turnsAtWork, turnsAtOnce, turnsWaiting, maxWaiting, streams, storedBytes } =
    sessions;
  return renderTiles([
    {
      name: 'Active sessions',
      value: formatCount(live),
      note: `${countOf(streams, 'open stream')}`,
    },
    {
      name: 'Questions being answered',
      value: formatCount(turnsAtWork),
      note: `at most ${formatCount(turnsAtOnce)} at the same time`,
    },
    {
      name: 'Questions in the queue',
      value: formatCount(turnsWaiting),
      note: `at most ${formatCount(maxWaiting)} waiting and running`,
      used: (turnsWaiting + turnsAtWork) / maxWaiting,
    },
    { name: 'Stored sessions', value: formatBytes(storedBytes) },
  ]);
}

/** Creates the section with the overview, and the part with which a script refreshes it. */
export function createOverviewSection(
  site: Site,
  read: () => Promise<OverviewFigures>,
): DashboardSection {
  const show = async () => ({
    title: 'Overview',
    bodyHtml: renderOverview(await read(), site),
    styles: ['admin-figures.css', 'admin-charts.css'],
    scripts: ['admin-overview.js'],
  });
  const readPart = async () => ({ html: renderFigures(await read(), site) });
  return {
    link: { path: dashboardPath, text: 'Overview' },
    pages: [
      { url: dashboardPath, show },
      { url: overviewPart, read: readPart },
    ],
  };
}

const queryNames: Readonly<Record<QueryKind, string>> = {
  post: 'posts',
  replies: 'replies',
  profile: 'profiles',
  timeline: 'timelines',
  followers: 'followers',
  following: 'followed accounts',
  search: 'post searches',
  searchUsers: 'account searches',
};

function renderProviders(providers: readonly ProviderFigures[], nowMs: number): string {
  const items = providers.map((provider) => renderProvider(provider, nowMs));
  const list = `<ul class="providers">${items.join('\n')}</ul>`;
  return `<section aria-labelledby="providers">
<h2 id="providers">Providers</h2>
${items.length === 0 ? '<p>No providers are configured, so Perch cannot read anything.</p>' : list}
</section>`;
}

function renderProvider(provider: ProviderFigures, nowMs: number): string {
  const { name, platforms, holds, lastHour, lastFailure } = provider;
  const states = describeHolds(holds);
  const failure =
    lastFailure === null
      ? 'No failure since the start.'
      : `Last failure (${queryNames[lastFailure.query]}): ${escapeHtml(lastFailure.message)} ${renderPast(lastFailure.atMs, nowMs)}`;
  return `<li class="provider">
<h3>${escapeHtml(name)} ${renderState(provider)}</h3>
<p class="soft">${escapeHtml(platforms.map((platform) => platformNames[platform]).join(', '))}</p>
${states.map((state) => `<p class="held">${escapeHtml(state)}</p>`).join('')}
<p>${describeRate(lastHour)}</p>
<p class="soft">${failure}</p>
</li>`;
}

function renderState({ holds, lastHour: { answered, failed } }: ProviderFigures): string {
  if (holds.length > 0) return '<span class="badge off">Paused</span>';
  if (answered > 0) return '<span class="badge good">Working</span>';
  if (failed > 0) return '<span class="badge off">Failing</span>';
  return '<span class="badge">Not used</span>';
}

function describeRate({ answered, failed }: ProviderFigures['lastHour']): string {
  const asked = answered + failed;
  if (asked === 0) return 'No queries in the last hour.';
  const share = formatShare(failed, asked);
  const failures = failed === 0 ? 'none failed' : `${formatCount(failed)} failed (${share})`;
  return `${countOf(asked, 'query', 'queries')} in the last hour, ${failures}.`;
}

/** Returns sentences with reason and waiting time. Kinds with the same ones share a sentence. */
export function describeHolds(holds: readonly QueryHold[]): readonly string[] {
  const reasons = new Map<string, string[]>();
  for (const { reason, waitMs, query } of holds) {
    const text = describeReason(reason, waitMs);
    reasons.set(text, [...(reasons.get(text) ?? []), queryNames[query]]);
  }
  return [...reasons].map(([text, names]) => `No requests for ${joinNames(names)}: ${text}`);
}

function describeReason(reason: QueryHold['reason'], waitMs: number): string {
  const wait = formatDuration(Math.ceil(waitMs / 1000) * 1000);
  if (reason === 'rate limit') return `the upstream limits the rate of requests for ${wait} more.`;
  if (waitMs === 0)
    return 'they failed repeatedly. The next request tests whether they work again.';
  return `they failed repeatedly. Next test in ${wait}.`;
}

function joinNames(names: readonly string[]): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
