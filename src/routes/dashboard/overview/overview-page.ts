import type { QueryHold } from '../../../fetching/chain/provider-chain.ts';
import type { ProviderRecord } from '../../../fetching/chain/provider-records.ts';
import type { EngineReport } from '../../../lib/redis/engine-report.ts';
import type { QueryKind } from '../../../model/queries.ts';
import type { Platform } from '../../../model/reference.ts';
import { platformNames } from '../../../model/reference.ts';
import { type Html, type HtmlPart, html } from '../../../render/html/markup.ts';
import type { EventLoopDelay } from '../../monitoring/load.ts';
import { renderLink, type Site, toLink } from '../../pages/layout.ts';
import { renderAlerts, renderBadge, renderSection, renderTiles, type Tile } from '../layout.ts';
import {
  countOf,
  formatBytes,
  formatCount,
  formatDuration,
  formatMs,
  formatShare,
  renderPast,
  renderTime,
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
const renderOverview = (figures: OverviewFigures, site: Site) => html`<div class="page-head">
<h1>Overview</h1>
<button type="button" class="button" id="pause" hidden>Pause updates</button>
</div>
<p id="live-status" class="live-status" role="status"></p>
<div id="live" data-part="${toLink(overviewPart, site)}" data-seconds="${refreshSeconds}">
${renderFigures(figures, site)}
</div>`;

const renderFigures = (figures: OverviewFigures, site: Site) => html`${renderNow(figures)}
${renderAlerts(listAlerts(figures, site))}
${renderTiles([...listTrafficTiles(figures), ...listLoadTiles(figures)])}
${renderTraffic(figures)}
${renderSection('providers', 'Providers', renderProviders(figures))}
${renderSection('sessions', 'Sessions', renderSessions(figures.sessions))}`;

const renderNow = ({ version, startedMs, nowMs, shared }: OverviewFigures) =>
  html`<p class="soft">Perch ${version}, running for ${formatDuration(nowMs - startedMs)}. Figures from ${renderTime(nowMs)}.</p>
${shared && html`<p class="soft">These are the figures of the instance <code>${shared.instance}</code>, one of ${countOf(shared.engine.instances, 'instance')}. The upstream pool and the sessions are shared by all instances.</p>`}`;

function listAlerts(figures: OverviewFigures, site: Site): readonly HtmlPart[] {
  const { isOverloaded, shared, providers, notices } = figures;
  const paused = providers.filter(({ holds }) => holds.length > 0).map(({ name }) => name);
  const link = renderLink(configurationPath, 'configuration', site);
  return [
    isOverloaded && 'The server is overloaded, and refuses reads.',
    shared?.engine.fault && `The shared engine is down: ${shared.engine.fault}`,
    paused.length > 0 && `Perch pauses requests to ${paused.join(', ')}.`,
    notices > 0 &&
      html`There ${notices === 1 ? 'is 1 notice' : `are ${notices} notices`} about the ${link}.`,
  ].filter(Boolean);
}

function listTrafficTiles({ hour, cache }: OverviewFigures): readonly Tile[] {
  const [server, client] = [total(hour, 'serverErrors'), total(hour, 'clientErrors')];
  const { fromCache, reads } = cacheUse(hour);
  const errors = `${formatCount(server)} with a 5xx status, ${formatCount(client)} with a 4xx status`;
  const entries = countOf(cache.entries, 'entry', 'entries');
  return [
    [
      'Requests, last hour',
      formatCount(total(hour, 'requests')),
      'including health checks and this page',
    ],
    ['Error responses, last hour', formatCount(server + client), errors],
    [
      'Answered from the cache, last hour',
      formatShare(fromCache, reads) ?? 'No reads',
      `${formatCount(fromCache)} of ${countOf(reads, 'read')}`,
    ],
    [
      'Cache',
      formatBytes(cache.bytes),
      `of ${formatBytes(cache.maxBytes)}, ${entries}`,
      cache.bytes / cache.maxBytes,
    ],
  ];
}

function listLoadTiles(figures: OverviewFigures): readonly Tile[] {
  const { pool, readsInFlight, isOverloaded, memory, eventLoop: delay } = figures;
  return [
    [
      `Upstream pool, last ${pool.windowSeconds} seconds`,
      `${formatCount(Math.max(0, pool.limit - pool.used))} left`,
      `${formatCount(pool.used)} of ${countOf(pool.limit, 'request')} used`,
      pool.used / pool.limit,
    ],
    [
      'Reads in progress',
      formatCount(readsInFlight),
      isOverloaded ? 'Further reads are refused.' : 'New reads are accepted.',
    ],
    ['Memory', formatBytes(memory.resident), `${formatBytes(memory.heap)} of JavaScript objects`],
    [
      'Event-loop delay',
      delay === null ? 'Not measured' : formatMs(delay.nowMs),
      delay === null
        ? 'PERCH_MAX_EVENT_LOOP_DELAY_MS is 0.'
        : `at most ${formatMs(delay.highestMs)} in the last minute`,
    ],
  ];
}

function renderSessions(sessions: OverviewFigures['sessions']): Html {
  if (sessions === null) {
    return html`<p>Sessions are turned off (<code>PERCH_SESSIONS</code>).</p>`;
  }
  if (sessions === 'unavailable') {
    return html`<p>The store of the sessions does not answer, so there are no figures.</p>`;
  }
  const { live, turnsAtWork, turnsAtOnce, turnsWaiting, maxWaiting } = sessions;
  return renderTiles([
    ['Active sessions', formatCount(live), countOf(sessions.streams, 'open stream')],
    [
      'Questions being answered',
      formatCount(turnsAtWork),
      `at most ${formatCount(turnsAtOnce)} at the same time`,
    ],
    [
      'Questions in the queue',
      formatCount(turnsWaiting),
      `at most ${formatCount(maxWaiting)} waiting and running`,
      (turnsWaiting + turnsAtWork) / maxWaiting,
    ],
    ['Stored sessions', formatBytes(sessions.storedBytes)],
  ]);
}

/** Creates the section with the overview, and the part with which a script refreshes it. */
export function createOverviewSection(
  site: Site,
  read: () => Promise<OverviewFigures>,
): DashboardSection {
  const show = async () => ({
    title: 'Overview',
    body: renderOverview(await read(), site),
    styles: ['admin-figures.css', 'admin-charts.css'],
    scripts: ['admin-overview.js'],
  });
  const readPart = async () => ({ html: String(renderFigures(await read(), site)) });
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

function renderProviders({ providers, nowMs }: OverviewFigures): Html {
  if (providers.length === 0) {
    return html`<p>No providers are configured, so Perch cannot read anything.</p>`;
  }
  return html`<ul class="providers">${providers.map((one) => renderProvider(one, nowMs))}</ul>`;
}

function renderProvider(provider: ProviderFigures, nowMs: number): Html {
  const { name, platforms, holds, lastHour, lastFailure } = provider;
  return html`<li class="provider">
<h3>${name} ${renderState(provider)}</h3>
<p class="soft">${platforms.map((platform) => platformNames[platform]).join(', ')}</p>
${describeHolds(holds).map((state) => html`<p class="held">${state}</p>`)}
<p>${describeRate(lastHour)}</p>
<p class="soft">${
    lastFailure === null
      ? 'No failure since the start.'
      : html`Last failure (${queryNames[lastFailure.query]}): ${lastFailure.message} ${renderPast(lastFailure.atMs, nowMs)}`
  }</p>
</li>\n`;
}

function renderState({ holds, lastHour: { answered, failed } }: ProviderFigures): Html {
  if (holds.length > 0) return renderBadge('Paused', 'off');
  if (answered > 0) return renderBadge('Working', 'good');
  return failed > 0 ? renderBadge('Failing', 'off') : renderBadge('Not used');
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
