import { type Html, type HtmlPart, html } from '../../render/html/markup.ts';

/** Number or state. `used` is a part of a limit from 0 to 1, which `note` states as text. */
export type Tile = readonly [name: string, value: string, note?: string, used?: number];

export const renderTiles = (tiles: readonly Tile[]): Html =>
  html`<dl class="tiles">${tiles.map(
    ([name, value, note, used]) =>
      html`<div class="tile"><dt>${name}</dt><dd class="value">${value}</dd>${used !== undefined && renderUsed(used)}${note && html`<dd class="note">${note}</dd>`}</div>\n`,
  )}</dl>`;

function renderUsed(used: number): Html {
  const width = Math.round(100 * Math.min(1, Math.max(0, used)));
  return html`<dd class="used"><svg class="bar-of" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="4"/><rect class="${used >= 0.9 ? 'full' : 'part'}" width="${width}" height="4"/></svg></dd>`;
}

/** Renders a section with a heading. */
export const renderSection = (id: string, title: string, content: HtmlPart): Html =>
  html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${content}
</section>`;

/** Renders the items of a list, or the text `empty` if there are none. */
export const renderRows = (items: readonly HtmlPart[], empty: string): Html =>
  items.length === 0
    ? html`<p class="empty">${empty}</p>`
    : html`<ul class="rows">${items.map((item) => html`<li>${item}</li>\n`)}</ul>`;

export const renderAlerts = (alerts: readonly HtmlPart[]): Html | null =>
  alerts.length === 0
    ? null
    : html`<ul class="alerts" aria-label="Needs attention">${alerts.map((alert) => html`<li>${alert}</li>`)}</ul>`;

export const renderBadge = (text: string, kind: 'good' | 'off' | '' = ''): Html =>
  html`<span class="badge${kind && ` ${kind}`}">${text}</span>`;

interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** Error in the last submitted value, shown next to the field. */
  readonly fault?: string | undefined;
  /** Attributes of the `input`; with `text`, the field is a `textarea` of several lines. */
  readonly attributes?: Html;
  readonly text?: string;
}

export function renderField({ name, label, hint, fault, attributes, text }: Field): Html {
  const notes = Object.entries({ fault, hint }).filter(([, note]) => note !== undefined);
  const ids = notes.map(([kind]) => `${name}-${kind}`).join(' ');
  const common = html`id="${name}" name="${name}"${fault && html` aria-invalid="true"`}${ids && html` aria-describedby="${ids}"`}`;
  // HTML parsers drop the first line break in a `textarea`. Without this one, they would drop a
  // line break at the start of the value.
  return html`<div class="field">
<label for="${name}">${label}</label>
${text === undefined ? html`<input ${common} ${attributes}>` : html`<textarea ${common}>\n${text}</textarea>`}
${notes.map(([kind, note]) => html`<p class="${kind === 'fault' ? 'field-fault' : kind}" id="${name}-${kind}">${note}</p>\n`)}
</div>`;
}
