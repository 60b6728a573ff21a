import { escapeHtml } from '../../render/html/markup.ts';

/** Number or state with a name and an explanation, all plain text. */
export interface Tile {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  /** Used part of a limit, from 0 to 1. `note` must state the same numbers as text. */
  readonly used?: number;
}

export function renderTiles(tiles: readonly Tile[]): string {
  const items = tiles.map(({ name, value, note, used }) => {
    const notes = [
      ...(used === undefined ? [] : [`<dd class="used">${renderUsed(used)}</dd>`]),
      ...(note === undefined ? [] : [`<dd class="note">${escapeHtml(note)}</dd>`]),
    ];
    return `<div class="tile"><dt>${escapeHtml(name)}</dt><dd class="value">${escapeHtml(value)}</dd>${notes.join('')}</div>`;
  });
  return `<dl class="tiles">${items.join('\n')}</dl>`;
}

function renderUsed(used: number): string {
  const width = Math.round(100 * Math.min(1, Math.max(0, used)));
  const kind = used >= 0.9 ? 'full' : 'part';
  return `<svg class="bar-of" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="4"/><rect class="${kind}" width="${width}" height="4"/></svg>`;
}
