import type { ArchiveReport } from '../../../archive/report/archive-report.ts';
import type { AccountSummary } from '../../../archive/store/account-summaries.ts';
import type { StoredImport } from '../../../archive/store/import-rows.ts';
import { platformNames } from '../../../model/reference.ts';
import { type Html, html } from '../../../render/html/markup.ts';
import { toLine } from '../../../render/markdown/characters.ts';
import { docsPath, renderLink, type Site } from '../../pages/layout.ts';
import { renderBadge, renderRows, renderSection, renderTiles, type Tile } from '../layout.ts';
import { countOf, formatBytes, formatCount, formatDay, renderPast } from '../numbers.ts';

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

export function renderArchive(figures: ArchiveFigures, site: Site): Html {
  const { report, hasSample } = figures;
  return html`<h1>Archive</h1>
<p class="lede">Accounts and posts that you have imported with ${renderLink(`${docsPath}/archive`, 'perch archive import', site)}.</p>
${report === null ? renderEmpty(figures) : renderReport(report, figures)}
<p class="soft">${hasSample ? 'Perch also serves the sample, a set of fictional accounts. The sample is not counted here.' : 'The sample is turned off.'}</p>`;
}

const renderEmpty = ({ isInMemory }: ArchiveFigures) =>
  isInMemory
    ? html`<p class="empty">Perch stores nothing on disk (<code>PERCH_DATA_DIR</code> is <code>:memory:</code>), so the archive has no imports.</p>`
    : html`<p class="empty">Nothing is imported yet.</p>`;

function renderReport(report: ArchiveReport, figures: ArchiveFigures): Html {
  const { accounts, accountCount, imports } = report;
  const left = accountCount - accounts.length;
  return html`${renderTiles(listTiles(report, figures))}
${renderSection('accounts', 'Accounts', [
  renderRows(accounts.map(renderAccount), 'No account is imported yet.'),
  left > 0 &&
    html`<p class="soft">${countOf(left, 'more account')}: see <code>perch archive list</code>.</p>`,
])}
${renderSection(
  'imports',
  'Last imports',
  renderRows(
    imports.map((one) => renderImport(one, figures.nowMs)),
    'There was no import yet.',
  ),
)}`;
}

function listTiles(report: ArchiveReport, { keepsHistories }: ArchiveFigures): readonly Tile[] {
  const { accounts, accountCount, imports, historyPosts, bytes, media } = report;
  const sum = (name: 'posts' | 'reposts') => accounts.reduce((all, one) => all + one[name], 0);
  const [last] = imports;
  const isAll = accounts.length === accountCount;
  const reposts = `${countOf(sum('reposts'), 'repost')}${isAll ? '' : `, first ${accounts.length} accounts only`}`;
  const copied = countOf(media.files, 'picture, video or sound', 'pictures, videos and sounds');
  const stored = keepsHistories ? 'New histories are stored.' : 'New histories are not stored.';
  const tiles: readonly (Tile | false)[] = [
    ['Imported accounts', formatCount(accountCount)],
    ['Posts of these accounts', formatCount(sum('posts')), reposts],
    ['Size on disk', formatBytes(bytes), 'archive.db, with the sample'],
    last === undefined
      ? ['Last import', 'None']
      : ['Last import', toDay(last.updated), `${last.title}: ${last.name}`],
    media.files > 0 && ['Copied media', formatBytes(media.bytes), copied],
    (historyPosts > 0 || keepsHistories) && [
      'Posts in stored histories',
      formatCount(historyPosts),
      stored,
    ],
  ];
  return tiles.filter((tile) => tile !== false);
}

function renderAccount(account: AccountSummary): Html {
  const { platform, handle, isProtected, oldest, newest, stored } = account;
  const counts = [
    countOf(account.posts, 'post'),
    countOf(account.reposts, 'repost'),
    countOf(account.followers, 'follower'),
    countOf(account.following, 'followed account'),
  ];
  const span =
    oldest !== null && newest !== null && `Posts from ${toDay(oldest)} to ${toDay(newest)}. `;
  return html`
<h3>@${toLine(handle)} <span class="soft">on ${platformNames[platform]}</span>${isProtected && html` ${renderBadge('Protected, not served')}`}</h3>
<p>${counts.join(' · ')}</p>
<p class="soft">${span}Exported on ${toDay(stored)}.</p>
`;
}

function renderImport(stored: StoredImport, nowMs: number): Html {
  const { title, name, updated, isDone, counts, items } = stored;
  const facts = [
    toLine(title),
    `${countOf(items, 'record')} read`,
    `${countOf(counts.posts, 'post')} stored`,
    ...(counts.faults === 0 ? [] : [countOf(counts.faults, 'unreadable record')]),
  ];
  return html`
<h3>${toLine(name)}${!isDone && html` ${renderBadge('Not finished', 'off')}`}</h3>
<p>${facts.join(' · ')}</p>
<p class="soft">${renderPast(updated * 1000, nowMs)}</p>
`;
}

const toDay = (seconds: number): string => formatDay(seconds * 1000);
