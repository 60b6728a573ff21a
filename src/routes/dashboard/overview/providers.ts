import type { QueryHold } from '../../../fetching/chain/provider-chain.ts';
import type { QueryKind } from '../../../model/queries.ts';
import { platformNames } from '../../../model/reference.ts';
import { escapeHtml } from '../../../render/html/markup.ts';
import { countOf, formatCount, formatDuration, formatShare, renderPast } from '../numbers.ts';
import type { ProviderFigures } from './figures.ts';

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

/** Renders each provider's state, failures in the last hour, and last failure. */
export function renderProviders(providers: readonly ProviderFigures[], nowMs: number): string {
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
