import type { ClauseId } from './clauses.ts';

/** The clauses no test covers yet, sorted; this list only gets shorter. */
export const clauseGaps: readonly ClauseId[] = [];
