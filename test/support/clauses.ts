import { readServiceClauses } from './clauses/read-service.ts';
import { sessionServiceClauses } from './clauses/session-service.ts';

/** Every testable clause of the two service specifications, each id with its text. */
export const clauses = { ...readServiceClauses, ...sessionServiceClauses } as const;

/** The id of one clause: document, section and point, joined by dots. */
export type ClauseId = keyof typeof clauses;
