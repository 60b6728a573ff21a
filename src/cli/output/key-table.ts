import type { KeyRecord } from '../../access/keys/key-record.ts';
import { toIsoSeconds } from '../../core/clock.ts';
import { toTable } from './table.ts';

const heads = ['ID', 'LABEL', 'STATE', 'ALLOWANCE', 'CREATED', 'LAST USED', 'NOTES'];

/** Gives keys as a table for people, columns aligned, one line for each key. */
export function toKeyTable(records: readonly KeyRecord[]): string {
  if (records.length === 0) return 'There are no keys.\n';
  return toTable(heads, records.map(toCells));
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
