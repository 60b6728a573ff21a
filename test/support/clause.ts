import { it } from 'vitest';
import type { ClauseId } from './clauses.ts';

/** One or several clause ids. Unknown ids do not compile. */
export type ClauseIds = ClauseId | readonly ClauseId[];

/** Registers a test that covers the given clauses. Its name is `title [id, id]`. */
export function clause(
  ids: ClauseIds,
  title: string,
  body: () => void | Promise<void>,
  timeoutMs?: number,
): void {
  it(`${title} [${[ids].flat().join(', ')}]`, body, timeoutMs);
}

/** Registers a test for each case that covers the given clauses. @throws Error without cases */
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
