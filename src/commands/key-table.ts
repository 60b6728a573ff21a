import type { KeyRecord } from '../access/key-record.ts';
import { toIsoSeconds } from '../core/clock.ts';

const heads = ['ID', 'LABEL', 'STATE', 'ALLOWANCE', 'CREATED', 'LAST USED', 'NOTES'];

/** Gives keys as a table for people, columns aligned, one line for each key. */
export function toKeyTable(records: readonly KeyRecord[]): string {
  if (records.length === 0) return 'There are no keys.\n';
  const rows = [heads, ...records.map(toCells)];
  const widths = heads.map((_head, column) =>
    Math.max(...rows.map((cells) => widthOf(cells[column]))),
  );
  const lines = rows.map((cells) =>
    cells.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell))),
  );
  return lines.map((cells) => `${cells.join('  ').trimEnd()}\n`).join('');
}

function widthOf(cell = ''): number {
  return [...cell].length;
}

function toCells({
  id,
  label,
  enabled,
  allowance,
  createdMs,
  lastUsedMs,
  notes,
}: KeyRecord): readonly string[] {
  return [
    id,
    label,
    enabled ? 'enabled' : 'disabled',
    allowance === null ? 'default' : String(allowance),
    toIsoSeconds(createdMs),
    lastUsedMs === null ? 'never' : toIsoSeconds(lastUsedMs),
    toOneLine(notes ?? ''),
  ];
}

/** The most characters of notes in a table; `--json` has all of them. */
const maxNotes = 40;

function toOneLine(notes: string): string {
  const characters = [...notes.replace(/\s+/g, ' ').trim()];
  if (characters.length <= maxNotes) return characters.join('');
  return `${characters.slice(0, maxNotes - 1).join('')}…`;
}
