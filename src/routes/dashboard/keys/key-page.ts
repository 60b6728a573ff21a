import type { KeyRecord } from '../../../access/keys/key-record.ts';
import { escapeHtml } from '../../../render/html/markup.ts';
import { renderLink, type Site, toLink } from '../../pages/layout.ts';
import { findVersioned } from '../../reads/routes.ts';
import { renderTime } from '../numbers.ts';
import { dashboardPath, type View, type Visit } from '../pages.ts';
import { type KeyDefaults, type KeyFields, renderFields } from './key-form.ts';

interface FormState {
  readonly visit: Visit;
  readonly site: Site;
  readonly defaults: KeyDefaults;
  readonly fields: KeyFields;
  readonly faults?: Readonly<Partial<Record<string, string>>>;
}

const toTitle = (title: string, { faults }: FormState) =>
  faults === undefined ? title : `Error: ${title}`;

const renderBack = (site: Site) => `<p class="back">${renderLink(keysPath, 'All keys', site)}</p>`;

export function describeNewKey(form: FormState): View {
  const { visit, site, defaults, fields, faults } = form;
  return {
    title: toTitle('Create a key', form),
    bodyHtml: `${renderBack(site)}
<h1>Create a key</h1>
<p class="lede">The next page shows the key once. Perch keeps only a hash of it.</p>
<form class="card key-form" method="post" action="${escapeHtml(toLink(newKeyPath, site))}" data-once>
${visit.formTokenHtml}
${renderFields(fields, defaults, faults)}
<div class="actions"><button class="primary" type="submit">Create the key</button>
${renderLink(keysPath, 'Cancel', site, ' class="button"')}</div>
</form>`,
    styles: keyStyles,
    scripts,
  };
}

const scripts = ['admin.js', 'copy.js'];

export interface KeyPage extends FormState {
  readonly key: KeyRecord;
  /** API key to show once, directly after the key was created or rotated; otherwise `null`. */
  readonly secret: string | null;
  readonly handle: string;
  /** Confirmation of the last change as HTML; an empty string if nothing was changed. */
  readonly message: string;
}

export function describeKey(page: KeyPage): View {
  const { key, site, visit, defaults, fields, faults, message } = page;
  const action = escapeHtml(toLink(toKeyPath(key.id), site));
  return {
    title: toTitle(key.label, page),
    bodyHtml: `${renderBack(site)}
<div class="page-head"><h1><bdi>${escapeHtml(key.label)}</bdi></h1>${renderState(key)}</div>
${message}${renderSecret(page)}
<dl class="card facts">
${renderFact('ID', `<code>${escapeHtml(key.id)}</code>`)}
${renderFact('Allowance', renderAllowance(key, defaults))}
${renderFact('Created', renderTime(key.createdMs))}
${renderFact('Last used', renderLastUse(key))}
</dl>
<div class="columns">
<form class="card key-form" method="post" action="${action}" aria-labelledby="change">
<h2 id="change">Change the key</h2>
${visit.formTokenHtml}
${renderFields(fields, defaults, faults)}
<button class="primary" type="submit">Save</button>
</form>
<section class="card other-changes" aria-labelledby="others">
<h2 id="others">Disable, rotate or delete</h2>
${renderSwitch(page)}
<div><p>Rotate the key to replace it with a new one. The old key stops working at once.</p>
${renderLink(toKeyPath(key.id, 'rotate'), 'Rotate…', site, ' class="button"')}</div>
<div><p>Delete the key for good.</p>
${renderLink(toKeyPath(key.id, 'delete'), 'Delete…', site, ' class="danger"')}</div>
</section>
</div>`,
    styles: keyStyles,
    scripts,
  };
}

const renderFact = (name: string, html: string) => `<div><dt>${name}</dt><dd>${html}</dd></div>`;

function renderSwitch({ key, site, visit }: KeyPage): string {
  const [action, text, name]: readonly [KeyAction, string, string] = key.enabled
    ? ['disable', 'Disable the key to refuse it until you enable it again.', 'Disable']
    : ['enable', 'The key is disabled. Callers that send it get status 401.', 'Enable'];
  return `<form method="post" action="${escapeHtml(toLink(toKeyPath(key.id, action), site))}">
${visit.formTokenHtml}
<p>${text}</p>
<button class="button" type="submit">${name}</button>
</form>`;
}

function renderSecret({ secret, site, handle }: KeyPage): string {
  if (secret === null) return '';
  const url = `${site.baseUrl}${findVersioned('getProfile').path.replace('{handle}', handle)}`;
  const command = `curl -H 'Authorization: Bearer ${secret}' ${url}`;
  return `<section class="card new-key" aria-labelledby="new-key-title">
<h2 id="new-key-title">Copy the key now</h2>
<p>This is the only time that Perch shows the key. Send it privately to its owner.</p>
<p class="secret"><code id="new-key">${escapeHtml(secret)}</code>
<button class="primary" type="button" data-copies="new-key" hidden>Copy the key</button></p>
<p>Try the key:</p>
<div class="code"><pre><code>${escapeHtml(command)}</code></pre></div>
</section>
`;
}

interface Confirmation {
  readonly key: KeyRecord;
  readonly visit: Visit;
  readonly site: Site;
}

export function describeRotation(confirmation: Confirmation): View {
  return describeConfirmation(confirmation, {
    ...{ action: 'rotate', title: 'Rotate', button: 'Rotate the key', style: 'primary' },
    text: 'The old key stops working at once. The next page shows the new key, which keeps the label, the allowance and the notes.',
  });
}

export function describeDeletion(confirmation: Confirmation): View {
  return describeConfirmation(confirmation, {
    ...{ action: 'delete', title: 'Delete', button: 'Delete the key', style: 'danger filled' },
    text: 'Callers that send the key get status 401 from the next request on. You cannot undo this. To refuse the key for a while, disable it instead.',
  });
}

type Question = Readonly<
  Record<'title' | 'button' | 'style' | 'text', string> & { action: KeyAction }
>;

function describeConfirmation({ key, visit, site }: Confirmation, question: Question): View {
  const { action, title, button, style, text } = question;
  const back = toKeyPath(key.id);
  return {
    title: `${title} “${key.label}”`,
    bodyHtml: `<p class="back">${renderLink(back, 'Back to the key', site)}</p>
<form class="card confirmation" method="post" action="${escapeHtml(toLink(toKeyPath(key.id, action), site))}" data-once>
${visit.formTokenHtml}
<h1>${title} the key ${renderLabel(key)}?</h1>
<p>${text}</p>
<div class="actions"><button class="${style}" type="submit">${button}</button>
${renderLink(back, 'Cancel', site, ' class="button"')}</div>
</form>`,
    styles: keyStyles,
    scripts: ['admin.js'],
  };
}

export const keysPath = `${dashboardPath}/keys`;

export const newKeyPath = `${keysPath}/new`;

export const keyStyles = ['admin-keys.css'];

/** Returns the path of a key's page or, with `page`, of a change: `/admin/keys/{id}/rotate`. */
export const toKeyPath = (id: string, page?: KeyAction): string =>
  page === undefined ? `${keysPath}/${id}` : `${keysPath}/${id}/${page}`;

export type KeyAction = 'enable' | 'disable' | 'rotate' | 'delete';

export function renderLastUse({ lastUsedMs }: KeyRecord): string {
  return lastUsedMs === null ? 'Never' : renderTime(lastUsedMs);
}

export function renderState({ enabled }: KeyRecord): string {
  return enabled
    ? '<span class="badge good">Enabled</span>'
    : '<span class="badge off">Disabled</span>';
}

export function renderAllowance({ allowance }: KeyRecord, defaults: KeyDefaults): string {
  if (allowance !== null) return String(allowance);
  return `${defaults.allowance} <span class="hint">(default)</span>`;
}

/** Renders a quoted label. `bdi` keeps right-to-left labels from reordering the text around it. */
function renderLabel({ label }: KeyRecord): string {
  return `“<bdi>${escapeHtml(label)}</bdi>”`;
}
