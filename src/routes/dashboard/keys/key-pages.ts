import type { KeyRecord } from '../../../access/keys/key-record.ts';
import { encodeComponent } from '../../../lib/http/url.ts';
import { type Html, html } from '../../../render/html/markup.ts';
import { renderLink, type Site, toLink } from '../../pages/layout.ts';
import { findVersioned } from '../../reads/routes.ts';
import { renderBadge, renderField, renderFormToken } from '../layout.ts';
import { renderTime } from '../numbers.ts';
import { dashboardPath, type View, type Visit } from '../pages.ts';

export const keysPath = `${dashboardPath}/keys`;

export const newKeyPath = `${keysPath}/new`;

export type KeyAction = 'enable' | 'disable' | 'rotate' | 'delete';

/** Returns the path of a key's page or, with `action`, of a change: `/admin/keys/{id}/rotate`. */
export const toKeyPath = (id: string, action?: KeyAction): string =>
  action === undefined ? `${keysPath}/${id}` : `${keysPath}/${id}/${action}`;

export interface KeyPagesOptions {
  readonly site: Site;
  readonly defaults: {
    /** Number of profiles, lists and searches that a key may request in each time window. */
    readonly allowance: number;
    /** Length in seconds of the time window to which `allowance` applies. */
    readonly windowSeconds: number;
  };
  /** Handle of an account that this server can read, for the example command. */
  readonly handle: string;
}

/** Form as the operator typed it, and the errors by field after an invalid submission. */
export interface KeyForm {
  readonly fields: Readonly<Record<'label' | 'allowance' | 'notes', string>>;
  readonly faults?: Readonly<Partial<Record<string, string>>>;
}

const keyView = { styles: ['admin-keys.css'], scripts: ['admin.js', 'copy.js'] } as const;

const toTitle = (title: string, { faults }: KeyForm) => (faults ? `Error: ${title}` : title);

const renderBack = (path: string, text: string, site: Site) =>
  html`<p class="back">${renderLink(path, text, site)}</p>`;

const renderButtonLink = (path: string, text: string, site: Site, kind = 'button') =>
  renderLink(path, text, site, html` class="${kind}"`);

export const describeNewKey = (visit: Visit, form: KeyForm, options: KeyPagesOptions): View => ({
  ...keyView,
  title: toTitle('Create a key', form),
  body: html`${renderBack(keysPath, 'All keys', options.site)}
<h1>Create a key</h1>
<p class="lede">The next page shows the key once. Perch keeps only a hash of it.</p>
<form class="card key-form" method="post" action="${toLink(newKeyPath, options.site)}" data-once>
${renderFormToken(visit.session)}
${renderFields(form, options)}
<div class="actions"><button class="primary" type="submit">Create the key</button>
${renderButtonLink(keysPath, 'Cancel', options.site)}</div>
</form>`,
});

export interface KeyPage extends KeyForm {
  readonly key: KeyRecord;
  /** API key to show once, directly after the key was created or rotated; otherwise `null`. */
  readonly secret: string | null;
}

export function describeKey(visit: Visit, page: KeyPage, options: KeyPagesOptions): View {
  const { key, secret } = page;
  const { site, defaults } = options;
  return {
    ...keyView,
    title: toTitle(key.label, page),
    body: html`${renderBack(keysPath, 'All keys', site)}
<div class="page-head"><h1><bdi>${key.label}</bdi></h1>${renderState(key)}</div>
${page.faults === undefined && renderMessage(visit)}${secret !== null && renderSecret(secret, options)}
<dl class="card facts">
${renderFact('ID', html`<code>${key.id}</code>`)}
${renderFact('Allowance', renderAllowance(key, defaults.allowance))}
${renderFact('Created', renderTime(key.createdMs))}
${renderFact('Last used', renderLastUse(key))}
</dl>
<div class="columns">
<form class="card key-form" method="post" action="${toLink(toKeyPath(key.id), site)}" aria-labelledby="change">
<h2 id="change">Change the key</h2>
${renderFormToken(visit.session)}
${renderFields(page, options)}
<button class="primary" type="submit">Save</button>
</form>
<section class="card other-changes" aria-labelledby="others">
<h2 id="others">Disable, rotate or delete</h2>
${renderSwitch(key, visit, site)}
<div><p>Rotate the key to replace it with a new one. The old key stops working at once.</p>
${renderButtonLink(toKeyPath(key.id, 'rotate'), 'Rotate…', site)}</div>
<div><p>Delete the key for good.</p>
${renderButtonLink(toKeyPath(key.id, 'delete'), 'Delete…', site, 'danger')}</div>
</section>
</div>`,
  };
}

const renderFact = (name: string, value: Html | string) =>
  html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

function renderSwitch({ id, enabled }: KeyRecord, visit: Visit, site: Site): Html {
  const [action, text, name]: readonly [KeyAction, string, string] = enabled
    ? ['disable', 'Disable the key to refuse it until you enable it again.', 'Disable']
    : ['enable', 'The key is disabled. Callers that send it get status 401.', 'Enable'];
  return html`<form method="post" action="${toLink(toKeyPath(id, action), site)}">
${renderFormToken(visit.session)}
<p>${text}</p>
<button class="button" type="submit">${name}</button>
</form>`;
}

function renderSecret(secret: string, { site, handle }: KeyPagesOptions): Html {
  const url = `${site.baseUrl}${findVersioned('getProfile').path.replace('{handle}', handle)}`;
  return html`<section class="card new-key" aria-labelledby="new-key-title">
<h2 id="new-key-title">Copy the key now</h2>
<p>This is the only time that Perch shows the key. Send it privately to its owner.</p>
<p class="secret"><code id="new-key">${secret}</code>
<button class="primary" type="button" data-copies="new-key" hidden>Copy the key</button></p>
<p>Try the key:</p>
<div class="code"><pre><code>curl -H '${`Authorization: Bearer ${secret}`}' ${url}</code></pre></div>
</section>
`;
}

function renderFields({ fields, faults = {} }: KeyForm, { defaults }: KeyPagesOptions) {
  return [
    renderField({
      ...{ name: 'label', label: 'Label', fault: faults.label },
      hint: 'Name that you recognize, such as the person or program that uses the key.',
      attributes: html`type="text" required autocomplete="off" value="${fields.label}"`,
    }),
    renderField({
      ...{ name: 'allowance', label: 'Allowance', fault: faults.allowance },
      hint: `Number of profiles, lists and searches in ${defaults.windowSeconds} seconds. If empty, the default applies: ${defaults.allowance}.`,
      attributes: html`type="text" inputmode="numeric" autocomplete="off" value="${fields.allowance}"`,
    }),
    renderField({
      ...{ name: 'notes', label: 'Notes', fault: faults.notes, text: fields.notes },
      hint: 'Only operators see the notes.',
    }),
  ];
}

const questions = {
  rotate: {
    ...{ title: 'Rotate', button: 'Rotate the key', style: 'primary' },
    text: 'The old key stops working at once. The next page shows the new key, which keeps the label, the allowance and the notes.',
  },
  delete: {
    ...{ title: 'Delete', button: 'Delete the key', style: 'danger filled' },
    text: 'Callers that send the key get status 401 from the next request on. You cannot undo this. To refuse the key for a while, disable it instead.',
  },
} as const;

/** Returns the page that asks for confirmation of a change. */
export function describeChange(
  { session }: Visit,
  { key, action }: { readonly key: KeyRecord; readonly action: keyof typeof questions },
  { site }: KeyPagesOptions,
): View {
  const { title, button, style, text } = questions[action];
  const back = toKeyPath(key.id);
  return {
    ...keyView,
    title: `${title} “${key.label}”`,
    scripts: ['admin.js'],
    // `bdi` keeps right-to-left labels from reordering the text around them.
    body: html`${renderBack(back, 'Back to the key', site)}
<form class="card confirmation" method="post" action="${toLink(toKeyPath(key.id, action), site)}" data-once>
${renderFormToken(session)}
<h1>${title} the key “<bdi>${key.label}</bdi>”?</h1>
<p>${text}</p>
<div class="actions"><button class="${style}" type="submit">${button}</button>
${renderButtonLink(back, 'Cancel', site)}</div>
</form>`,
  };
}

const messages: ReadonlyMap<unknown, string> = new Map([
  ['saved', 'The changes are saved.'],
  ['enabled', 'The key is enabled.'],
  ['disabled', 'The key is disabled.'],
  ['deleted', 'The key is deleted.'],
]);

/** Renders the confirmation of the last change, which the parameter `done` names. */
function renderMessage({ query: { done } }: Visit): Html | false {
  const text = messages.get(done);
  return text !== undefined && html`<p class="message" role="status">${text}</p>\n`;
}

const renderLastUse = ({ lastUsedMs }: KeyRecord) =>
  lastUsedMs === null ? 'Never' : renderTime(lastUsedMs);

const renderState = ({ enabled }: KeyRecord) =>
  enabled ? renderBadge('Enabled', 'good') : renderBadge('Disabled', 'off');

const renderAllowance = ({ allowance }: KeyRecord, byDefault: number) =>
  allowance === null ? html`${byDefault} <span class="hint">(default)</span>` : String(allowance);

const pageSize = 50;
const maxSearch = 100;
const maxNotes = 80;

/** Returns the page of API keys, newest first, 50 per page, filtered by the parameter `q`. */
export function describeList(
  keys: readonly KeyRecord[],
  visit: Visit,
  { site, defaults }: KeyPagesOptions,
): View {
  const { q = '', page: asked = '' } = visit.query;
  const text = ([q].flat()[0] ?? '').trim().slice(0, maxSearch);
  const found = keys.filter(createFilter(text)).reverse();
  const pages = Math.max(1, Math.ceil(found.length / pageSize));
  const page = Math.min(pages, /^[1-9]\d{0,8}$/.test(String(asked)) ? Number(asked) : 1);
  const shown = found.slice((page - 1) * pageSize, page * pageSize);
  const count = found.length === 1 ? '1 key' : `${found.length} keys`;
  const list = html`${renderSearch(text, site)}
<p class="hint" role="status">${count}${text && ` with “${text}”`}.</p>
${shown.length > 0 && renderTable(shown, defaults.allowance, site)}
${pages > 1 && renderPaging({ page, pages, text, site })}`;
  return {
    ...keyView,
    title: 'Keys',
    body: html`<div class="page-head">
<h1>Keys</h1>
${renderButtonLink(newKeyPath, 'Create a key', site, 'primary')}
</div>
${renderMessage(visit)}${keys.length === 0 ? renderWelcome(site) : list}`,
    scripts: ['docs.js'],
  };
}

function createFilter(text: string): (key: KeyRecord) => boolean {
  const needle = text.toLowerCase();
  return ({ id, label, notes }) =>
    [id, label, notes ?? ''].some((value) => value.toLowerCase().includes(needle));
}

const renderWelcome = (site: Site) => html`<div class="card empty">
<h2>There are no keys yet</h2>
<p>Callers can read without a key. A key gives one caller an allowance of its own, and you can disable it at any time.</p>
<p>${renderLink(newKeyPath, 'Create the first key', site)}</p>
</div>`;

const renderSearch = (text: string, site: Site) =>
  html`<form class="key-search" role="search" action="${toLink(keysPath, site)}">
<label class="visually-hidden" for="q">Search keys by label, notes or ID</label>
<input id="q" type="search" name="q" value="${text}" maxlength="${maxSearch}" placeholder="Label, notes or ID" autocomplete="off" spellcheck="false">
<button class="button" type="submit">Search</button>
</form>`;

// The roles keep the table a table for screen readers, although narrow windows show its rows as
// blocks.
function renderTable(keys: readonly KeyRecord[], byDefault: number, site: Site): Html {
  const names = ['Label', 'State', 'Allowance', 'Created', 'Last used', 'Notes'];
  const toCells = (key: KeyRecord) => [
    renderState(key),
    renderAllowance(key, byDefault),
    renderTime(key.createdMs),
    renderLastUse(key),
    shorten(key.notes ?? ''),
  ];
  const renderCell = (cell: Html | string, at: number) =>
    html`<td role="cell" data-name="${names[at + 1]}">${cell && html`<div>${cell}</div>`}</td>`;
  return html`<div class="table key-table"><table role="table">
<thead role="rowgroup"><tr role="row">${names.map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">
${keys.map(
  (key) =>
    html`<tr role="row"><th role="rowheader" scope="row"><bdi>${renderLink(toKeyPath(key.id), key.label, site)}</bdi></th>${toCells(key).map(renderCell)}</tr>\n`,
)}</tbody>
</table></div>`;
}

function shorten(notes: string): string {
  const text = notes
    .slice(0, 4 * maxNotes)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const characters = [...text];
  if (characters.length <= maxNotes) return text;
  return `${characters.slice(0, maxNotes - 1).join('')}…`;
}

type Paging = Readonly<{ page: number; pages: number; text: string; site: Site }>;

function renderPaging({ page, pages, text, site }: Paging): Html {
  const search = text === '' ? '' : `q=${encodeComponent(text)}&`;
  const link = (to: number, name: string, rel: string) =>
    to >= 1 &&
    to <= pages &&
    renderLink(`${keysPath}?${search}page=${to}`, name, site, html` class="button" rel="${rel}"`);
  return html`<nav class="actions paging" aria-label="Pages">${link(page - 1, 'Newer', 'prev')}
<span class="hint">Page ${page} of ${pages}</span>
${link(page + 1, 'Older', 'next')}</nav>`;
}
