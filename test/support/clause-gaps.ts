import type { ClauseId } from './clauses.ts';

/** Clauses that no test covers yet, sorted. The list may only get shorter. */
export const clauseGaps: readonly ClauseId[] = [];
