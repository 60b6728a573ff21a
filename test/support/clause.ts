import { it } from 'vitest';
import type { ClauseId } from './clauses.ts';

/** One clause id or several; an unknown id fails to compile. */
export type ClauseIds = ClauseId | readonly ClauseId[];

/** Registers a test that shows the given clauses, named `title [id, id]`. */
export function clause(
  ids: ClauseIds,
  title: string,
  body: () => void | Promise<void>,
  timeoutMs?: number,
): void {
  it(`${title} [${[ids].flat().join(', ')}]`, body, timeoutMs);
}

/** Registers one test per case for the given clauses; without cases nothing would be shown. */
export function clauseEach<T>(
  ids: ClauseIds,
  cases: readonly T[],
  title: (c: T) => string,
  body: (c: T) => void | Promise<void>,
): void {
  if (cases.length === 0) {
    throw new Error(`no cases for ${[ids].flat().join(', ')}`);
  }
  for (const c of cases) {
    clause(ids, title(c), () => body(c));
  }
}
