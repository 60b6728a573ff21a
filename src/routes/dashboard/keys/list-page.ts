import type { ParsedUrlQuery } from 'node:querystring';
import type { KeyRecord } from '../../../access/keys/key-record.ts';
import { encodeComponent } from '../../../lib/http/url.ts';
import { escapeHtml } from '../../../render/html/markup.ts';
import { renderLink, type Site, toLink } from '../../pages/layout.ts';
import { renderTime } from '../numbers.ts';
import type { View } from '../pages.ts';
import type { KeyDefaults } from './key-form.ts';
import {
  keyStyles,
  keysPath,
  newKeyPath,
  renderAllowance,
  renderLastUse,
  renderState,
  toKeyPath,
} from './key-page.ts';

const pageSize = 50;
const maxSearch = 100;
const maxNotes = 80;

interface ListOptions {
  readonly keys: readonly KeyRecord[];
  readonly query: ParsedUrlQuery;
  readonly site: Site;
  readonly defaults: KeyDefaults;
  /** Confirmation of the last change as HTML; an empty string if nothing was changed. */
  readonly message: string;
}

/** Returns the page of API keys, newest first, 50 per page, filtered by the parameter `q`. */
export function describeList({ keys, query, site, defaults, message }: ListOptions): View {
  const text = readText(query).trim().slice(0, maxSearch);
  const found = keys.filter(createFilter(text)).reverse();
  const pages = Math.max(1, Math.ceil(found.length / pageSize));
  const page = Math.min(pages, toPageNumber(query));
  const shown = found.slice((page - 1) * pageSize, page * pageSize);
  const body =
    keys.length === 0
      ? renderWelcome(site)
      : `${renderSearch(text, site)}
<p class="hint" role="status">${countKeys(found.length)}${text === '' ? '' : ` with “${escapeHtml(text)}”`}.</p>
${shown.length === 0 ? '' : renderTable(shown, defaults, site)}
${renderPaging({ page, pages, text, site })}`;
  return {
    title: 'Keys',
    bodyHtml: `<div class="page-head">
<h1>Keys</h1>
${renderLink(newKeyPath, 'Create a key', site, ' class="primary"')}
</div>
${message}${body}`,
    styles: keyStyles,
    scripts: ['docs.js'],
  };
}

const readText = ({ q = '' }: ParsedUrlQuery): string => (Array.isArray(q) ? (q[0] ?? '') : q);

function toPageNumber({ page }: ParsedUrlQuery): number {
  return typeof page === 'string' && /^[1-9]\d{0,8}$/.test(page) ? Number(page) : 1;
}

function createFilter(text: string): (key: KeyRecord) => boolean {
  const needle = text.toLowerCase();
  return ({ id, label, notes }) =>
    [id, label, notes ?? ''].some((value) => value.toLowerCase().includes(needle));
}

const countKeys = (count: number): string => (count === 1 ? '1 key' : `${count} keys`);

function renderWelcome(site: Site): string {
  return `<div class="card empty">
<h2>There are no keys yet</h2>
<p>Callers can read without a key. A key gives one caller an allowance of its own, and you can disable it at any time.</p>
<p>${renderLink(newKeyPath, 'Create the first key', site)}</p>
</div>`;
}

function renderSearch(text: string, site: Site): string {
  return `<form class="key-search" role="search" action="${escapeHtml(toLink(keysPath, site))}">
<label class="visually-hidden" for="q">Search keys by label, notes or ID</label>
<input id="q" type="search" name="q" value="${escapeHtml(text)}" maxlength="${maxSearch}" placeholder="Label, notes or ID" autocomplete="off" spellcheck="false">
<button class="button" type="submit">Search</button>
</form>`;
}

const columns: Readonly<Record<string, (key: KeyRecord, defaults: KeyDefaults) => string>> = {
  State: (key) => renderState(key),
  Allowance: renderAllowance,
  Created: ({ createdMs }) => renderTime(createdMs),
  'Last used': (key) => renderLastUse(key),
  Notes: ({ notes }) => escapeHtml(shorten(notes ?? '')),
};

// The roles keep the table a table for screen readers, although narrow windows show its rows as
// blocks.
function renderTable(keys: readonly KeyRecord[], defaults: KeyDefaults, site: Site): string {
  const names = Object.keys(columns);
  const head = ['Label', ...names].map(
    (name) => `<th role="columnheader" scope="col">${name}</th>`,
  );
  const rows = keys.map((key) => {
    const label = renderLink(toKeyPath(key.id), key.label, site);
    const cells = names.map((name) => {
      const html = columns[name]?.(key, defaults) ?? '';
      const content = html === '' ? '' : `<div>${html}</div>`;
      return `<td role="cell" data-name="${name}">${content}</td>`;
    });
    return `<tr role="row"><th role="rowheader" scope="row"><bdi>${label}</bdi></th>${cells.join('')}</tr>`;
  });
  return `<div class="table key-table"><table role="table">
<thead role="rowgroup"><tr role="row">${head.join('')}</tr></thead>
<tbody role="rowgroup">
${rows.join('\n')}
</tbody>
</table></div>`;
}

function shorten(notes: string): string {
  const characters = [
    ...notes
      .slice(0, 4 * maxNotes)
      .replaceAll(/\s+/g, ' ')
      .trim(),
  ];
  if (characters.length <= maxNotes) return characters.join('');
  return `${characters.slice(0, maxNotes - 1).join('')}…`;
}

type Paging = Readonly<{ page: number; pages: number; text: string; site: Site }>;

function renderPaging({ page, pages, text, site }: Paging): string {
  if (pages === 1) return '';
  const search = text === '' ? '' : `q=${encodeComponent(text)}&`;
  const link = (to: number, name: string, rel: string) =>
    to < 1 || to > pages
      ? ''
      : renderLink(`${keysPath}?${search}page=${to}`, name, site, ` class="button" rel="${rel}"`);
  return `<nav class="actions paging" aria-label="Pages">${link(page - 1, 'Newer', 'prev')}
<span class="hint">Page ${page} of ${pages}</span>
${link(page + 1, 'Older', 'next')}</nav>`;
}
