import { Problem } from '../../lib/problem.ts';
import type { Excess, Limit } from '../../lib/scheduling/quotas.ts';

/** Names by which the stores count what each client has. */
export const columns = {
  /** Sessions that have not ended. */
  sessions: 'live',
  /** Bytes of all sessions, including those that have ended. */
  sessionBytes: 'stored',
  /** Unanswered messages. */
  queuedTurns: 'pending',
} as const;

export type Quantity = keyof typeof columns;

export const quantities = ['sessions', 'sessionBytes', 'queuedTurns'] as const;

/** Amount that a change adds to a quantity, whose limits are checked before. */
export type Need = Readonly<{ quantity: Quantity; amount: number }>;

/** Need of a new answer, whose size is not known before. */
export const needOfAnswer: Need = { quantity: 'sessionBytes', amount: 0 };

/** States of sessions that a client gives up at a limit, first ones first. */
export const evictable = {
  sessions: ['waiting'],
  sessionBytes: ['ended', 'failed', 'waiting'],
  queuedTurns: [],
} as const;

export const maxEvictions = 256; // maximum number per change, because deleting is slow

const tooMany = 'has reached the maximum number of waiting and running questions';

/** Reasons to refuse a question because too many others wait or run, by exceeded limit. */
export const turnDetails: Readonly<Record<Excess, string>> = {
  address: `This address ${tooMany} (\`PERCH_SESSION_TURNS_PER_ADDRESS\`).`,
  network: `This IPv6 /48 network ${tooMany} (four times \`PERCH_SESSION_TURNS_PER_ADDRESS\`).`,
  share: `This address or network ${tooMany}, half of all (\`PERCH_SESSION_WAITING_TURNS\`).`,
  total: `The server ${tooMany} (\`PERCH_SESSION_WAITING_TURNS\`).`,
};

const who = {
  address: ['this address', 'PERCH_SESSION_LIVE_PER_ADDRESS', 'PERCH_SESSION_BYTES_PER_ADDRESS'],
  network: ['this network', 'PERCH_SESSION_LIVE_PER_ADDRESS', 'PERCH_SESSION_BYTES_PER_ADDRESS'],
  total: ['the server', 'PERCH_SESSION_LIVE', 'PERCH_SESSION_BYTES'],
} as const;

/** Creates the error for a client that exceeds a limit and has no session to give up. */
export function toQuotaProblem(quantity: Quantity, scope: Limit['scope']): Problem {
  if (quantity === 'queuedTurns') {
    const code = scope === 'total' ? 'overloaded' : 'turn_queue_full';
    return new Problem(code, { detail: turnDetails[scope] });
  }
  const [of, live, bytes] = who[scope];
  const detail =
    quantity === 'sessions'
      ? `The number of sessions of ${of} has reached the limit (\`${live}\`).`
      : `The stored sessions of ${of} have reached the limit of bytes (\`${bytes}\`).`;
  return new Problem('overloaded', { detail });
}
