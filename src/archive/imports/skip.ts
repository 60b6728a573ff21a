import type { SkippedRecord } from './export-source.ts';

/** Says that a record was left out because it could not be read. */
export function skip(where: string, why: string): SkippedRecord {
  return { kind: 'skipped', where, why, cause: 'fault' };
}

/** Says that something is not shown because its author does not show it to everybody. */
export function skipPrivate(where: string, why: string): SkippedRecord {
  return { kind: 'skipped', where, why, cause: 'private' };
}
