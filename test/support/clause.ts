import { it } from 'vitest';
import type { ClauseId } from './clauses.ts';

type Body<Args extends readonly unknown[]> = (...args: Args) => void | Promise<void>;

/** Registers tests that cover clauses. Their names are `title [id, id]`. */
interface ClauseTests {
  (title: string, body: Body<[]>, timeoutMs?: number): void;
  /** Registers a test for each case, as `it.each` does. @throws Error without cases */
  each<const T extends readonly unknown[]>(
    cases: readonly T[],
  ): (title: string, body: Body<[...T]>) => void;
  each<T>(cases: readonly T[]): (title: string, body: Body<[T]>) => void;
}

/** Returns what registers tests that cover the given clauses. Unknown ids do not compile. */
export function clause(...ids: readonly [ClauseId, ...ClauseId[]]): ClauseTests {
  const label = `[${ids.join(', ')}]`;
  const one = (title: string, body: Body<[]>, timeoutMs?: number) =>
    it(`${title} ${label}`, body, timeoutMs);
  const each = (cases: readonly unknown[]) => {
    if (cases.length === 0) throw new Error(`no cases for ${label}`);
    return (title: string, body: Body<unknown[]>) => it.each(cases)(`${title} ${label}`, body);
  };
  return Object.assign(one, { each }) as ClauseTests; // its overloads only type the cases
}
