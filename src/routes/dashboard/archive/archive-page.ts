import type { ArchiveReport } from '../../../archive/report/archive-report.ts';
import type { AccountSummary } from '../../../archive/store/account-summaries.ts';
import type { StoredImport } from '../../../archive/store/import-rows.ts';
import { platformNames } from '../../../model/reference.ts';
import { escapeHtml, escapeLine } from '../../../render/html/markup.ts';
import { docsPath, renderLink, type Site } from '../../pages/layout.ts';
import {
  countOf,
  formatBytes,
  formatCount,
  formatDay,
  renderPast,
  renderTiles,
  type Tile,
} from '../numbers.ts';

export interface ArchiveFigures {
  readonly nowMs: number;
  /** Summary of the imported data; `null` if there is no archive database. */
  readonly report: ArchiveReport | null;
  /** Whether Perch stores nothing on disk, because the data folder is `:memory:`. */
  readonly isInMemory: boolean;
  readonly hasSample: boolean;
  /** Whether Perch stores the post histories that callers request (`PERCH_ARCHIVE_HISTORY`). */
  readonly keepsHistories: boolean;
}

export function renderArchive(figures: ArchiveFigures, site: Site): string {
  const { report } = figures;
  return `<h1>Archive</h1>
<p class="lede">Accounts and posts that you have imported with ${renderLink(`${docsPath}/archive`, 'perch archive import', site)}.</p>
${report === null ? renderEmpty(figures) : renderReport(report, figures)}
<p class="soft">${figures.hasSample ? 'Perch also serves the sample, a set of fictional accounts. The sample is not counted here.' : 'The sample is turned off.'}</p>`;
}

function renderEmpty({ isInMemory }: ArchiveFigures): string {
  return isInMemory
    ? '<p class="empty">Perch stores nothing on disk (<code>PERCH_DATA_DIR</code> is <code>:memory:</code>), so the archive has no imports.</p>'
    : '<p class="empty">Nothing is imported yet.</p>';
}

function renderReport(report: ArchiveReport, { nowMs, keepsHistories }: ArchiveFigures): string {
  const { accounts, accountCount, imports, historyPosts, bytes } = report;
  const sum = (count: (account: AccountSummary) => number) =>
    accounts.reduce((all, account) => all + count(account), 0);
  const last = imports[0];
  const isAll = accounts.length === accountCount;
  const tiles = renderTiles([
    { name: 'Imported accounts', value: formatCount(accountCount) },
    {
      name: 'Posts of these accounts',
      value: formatCount(sum(({ posts }) => posts)),
      note: `${countOf(
        sum(({ reposts }) => reposts),
        'repost',
      )}${isAll ? '' : `, first ${accounts.length} accounts only`}`,
    },
    { name: 'Size on disk', value: formatBytes(bytes), note: 'archive.db, with the sample' },
    {
      name: 'Last import',
      value: last === undefined ? 'None' : toDay(last.updated),
      ...(last !== undefined && { note: `${last.title}: ${last.name}` }),
    },
    ...toMediaTiles(report),
    ...toHistoryTiles(historyPosts, keepsHistories),
  ]);
  return `${tiles}
${renderAccounts(report)}
${renderImports(imports, nowMs)}`;
}

function toMediaTiles({ media: { files, bytes } }: ArchiveReport): readonly Tile[] {
  if (files === 0) return [];
  const note = countOf(files, 'picture, video or sound', 'pictures, videos and sounds');
  return [{ name: 'Copied media', value: formatBytes(bytes), note }];
}

function toHistoryTiles(posts: number, keepsHistories: boolean): readonly Tile[] {
  if (posts === 0 && !keepsHistories) return [];
  const note = keepsHistories ? 'New histories are stored.' : 'New histories are not stored.';
  return [{ name: 'Posts in stored histories', value: formatCount(posts), note }];
}

function renderAccounts({ accounts, accountCount }: ArchiveReport): string {
  const items = accounts.map(renderAccount);
  const left = accountCount - accounts.length;
  const more =
    left === 0
      ? ''
      : `<p class="soft">${countOf(left, 'more account')}: see <code>perch archive list</code>.</p>`;
  return `<section aria-labelledby="accounts">
<h2 id="accounts">Accounts</h2>
${items.length === 0 ? '<p class="empty">No account is imported yet.</p>' : `<ul class="rows">${items.join('\n')}</ul>`}
${more}
</section>`;
}

function renderAccount(account: AccountSummary): string {
  const { platform, handle, isProtected, posts, reposts, followers, following } = account;
  const { oldest, newest, stored } = account;
  const badge = isProtected ? ' <span class="badge">Protected, not served</span>' : '';
  const counts = [
    countOf(posts, 'post'),
    countOf(reposts, 'repost'),
    countOf(followers, 'follower'),
    countOf(following, 'followed account'),
  ];
  const span =
    oldest === null || newest === null ? '' : `Posts from ${toDay(oldest)} to ${toDay(newest)}. `;
  return `<li>
<h3>@${escapeLine(handle)} <span class="soft">on ${escapeHtml(platformNames[platform])}</span>${badge}</h3>
<p>${counts.join(' · ')}</p>
<p class="soft">${span}Exported on ${toDay(stored)}.</p>
</li>`;
}

function renderImports(imports: readonly StoredImport[], nowMs: number): string {
  const items = imports.map(({ title, name, updated, isDone, counts, items: read }) => {
    const badge = isDone ? '' : ' <span class="badge off">Not finished</span>';
    const faults = counts.faults === 0 ? '' : ` · ${countOf(counts.faults, 'unreadable record')}`;
    return `<li>
<h3>${escapeLine(name)}${badge}</h3>
<p>${escapeLine(title)} · ${countOf(read, 'record')} read · ${countOf(counts.posts, 'post')} stored${faults}</p>
<p class="soft">${renderPast(updated * 1000, nowMs)}</p>
</li>`;
  });
  return `<section aria-labelledby="imports">
<h2 id="imports">Last imports</h2>
${items.length === 0 ? '<p class="empty">There was no import yet.</p>' : `<ul class="rows">${items.join('\n')}</ul>`}
</section>`;
}

const toDay = (seconds: number): string => formatDay(seconds * 1000);
