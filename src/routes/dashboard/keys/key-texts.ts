import type { KeyRecord } from '../../../access/keys/key-record.ts';
import { escapeHtml } from '../../../render/html/markup.ts';
import { renderTime } from '../numbers.ts';
import { dashboardPath } from '../paths.ts';
import type { KeyDefaults } from './key-form.ts';

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
export function renderLabel({ label }: KeyRecord): string {
  return `“<bdi>${escapeHtml(label)}</bdi>”`;
}
