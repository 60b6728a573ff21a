import type { Client } from '../../../core/caller.ts';
import type { Clock } from '../../../core/clock.ts';
import { Problem } from '../../../core/problem.ts';
import type { Excess } from '../../../core/scheduling/quotas.ts';
import {
  idempotencyMs,
  type KeyedRequest,
  type Receipt,
  refuseOtherRequest,
} from '../session-rows.ts';
import type { Acceptance, SessionStore, StoreBounds } from '../session-store.ts';
import { endSession, type SessionRecord } from '../state.ts';
import { emptySessionBytes, keyRowBytes } from '../stored-bytes.ts';
import { bytesOf } from '../transition-writes.ts';
import type { Changes } from './changes.ts';
import { createVictimSearch, type Excessive, toExcessProblem, toNeed } from './room.ts';
import { recallScript, roomScript } from './scripts.ts';
import type { Need, Outcome, StoredSession } from './transactions.ts';

const maxEvictions = 256;

type Admission = Pick<SessionStore, 'start' | 'accept' | 'recall' | 'hasRoom'> & {
  /**
   * Deletes sessions until the bytes of the client, its network and all clients (only these if
   * `client` is `null`) are within their limits. Stops after 256, or if none may be deleted; never
   * deletes `except`. Returns the number of deleted sessions.
   */
  trim(client: Client | null, except: string): Promise<number>;
};

/** Creates the functions that accept messages, and evict other sessions to make room. */
export function createAdmission(changes: Changes, clock: Clock): Admission {
  const { transactions, boundsOf, load, repeat } = changes;
  const { run } = transactions;
  const { findVictim, evict } = createEviction(changes, clock);
  const recall = createRecall(changes);
  const admit = createAdmit(changes, findVictim, evict);
  const findExcess = async (client: Client | null): Promise<Excess | ''> => {
    const [need] = toNeed(boundsOf(), { field: 'stored', client, amount: 0 });
    // The script returns nothing else.
    return need === undefined ? '' : ((await run(roomScript, JSON.stringify(need))) as Excess);
  };
  return {
    recall,
    start: (acceptance, request) =>
      repeat(async () => {
        const admitted = await admit(null, withEmptySession(acceptance, request), request);
        return admitted ?? (await recall(request)) ?? 'retry';
      }),
    accept: (id, request, decide) =>
      repeat(async () => {
        const known = await recall(request);
        const before = known === undefined ? await load(id) : undefined;
        if (before === undefined) return known;
        const admitted = await admit(before, decide(before.record), request);
        return admitted ?? (await recall(request)) ?? 'retry';
      }),
    hasRoom: async (client) => ['', 'share'].includes(await findExcess(client)),
    trim: async (client, except) => {
      for (let evicted = 0; evicted < maxEvictions; evicted += 1) {
        const excess = await findExcess(client);
        if (excess === '' || excess === 'share') return evicted;
        const victim = await findVictim({ field: 'stored', excess, client, except });
        if (victim === undefined) return evicted;
        await evict(victim, 'stored');
      }
      return maxEvictions;
    },
  };
}

type FindVictim = ReturnType<typeof createVictimSearch>;
type Evict = (id: string, field: 'live' | 'stored') => Promise<number>;

function createEviction({ transactions, boundsOf, load, purge, change }: Changes, clock: Clock) {
  const isReadHere = (id: string) => boundsOf()?.isRead(id) === true;
  const now = () => boundsOf()?.clock.now() ?? clock.now();
  /** Returns the freed bytes (`stored`: deletes), 1 (`live`: ends), or 0 if that failed. */
  const evict: Evict = async (id, field) => {
    const before = await load(id);
    if (before === undefined) return 0;
    if (field === 'stored') return (await purge(id, now())) ? before.record.storedBytes : 0;
    const end = (record: SessionRecord) =>
      record.state === 'waiting' ? endSession(record, 'evicted', now()) : null;
    return (await change(id, end)) === undefined ? 0 : 1;
  };
  return { evict, findVictim: createVictimSearch(transactions, isReadHere, now) };
}

/**
 * Creates the function that stores a message, and evicts other sessions if a limit requires it. It
 * returns the receipt, `undefined` for an earlier request with the same idempotency key, or `retry`
 * if the session has changed since `before`. It throws Problem `overloaded` or `turn_queue_full`.
 */
function createAdmit({ write, boundsOf }: Changes, findVictim: FindVictim, evict: Evict) {
  /** Returns freed bytes or ended sessions. @throws Problem if no session can be evicted */
  const makeRoom = async (excessive: Excessive, { client, id }: SessionRecord): Promise<number> => {
    const { field, excess } = excessive;
    if (field === 'pending') throw toExcessProblem(excessive);
    const victim = await findVictim({ field, excess, client, except: id });
    if (victim === undefined) throw toExcessProblem(excessive);
    return evict(victim, field);
  };
  return async (
    before: StoredSession | null,
    acceptance: Acceptance,
    request: KeyedRequest | null,
  ): Promise<Receipt | undefined | 'retry'> => {
    const { transition, receipt } = acceptance;
    let needs = toNeeds(boundsOf(), before, acceptance);
    const freed = { live: 0, stored: 0, pending: 0 };
    for (let evicted = 0; evicted < maxEvictions; evicted += 1) {
      const { outcome } = await write(before, transition, { needs, request, receipt });
      if (outcome.kind !== 'excess') return toAdmitted(outcome, receipt);
      // A client that exceeds its share has to replace sessions of its own; then its share no
      // longer counts.
      freed[outcome.field] += await makeRoom(outcome, transition.record);
      needs = needs.map((need) => ({ ...need, ignoresShare: freed[need.field] >= need.amount }));
    }
    throw new Problem('overloaded', { detail: 'There is no room for the message.' });
  };
}

function toAdmitted({ kind }: Outcome, receipt: Receipt): Receipt | undefined | 'retry' {
  if (kind === 'ok') return receipt;
  return kind === 'once' ? undefined : 'retry';
}

type StoredReceipt = Readonly<{ fingerprint: string; receipt: Receipt; atMs: number }>;

function createRecall({ transactions }: Changes): SessionStore['recall'] {
  return async (request) => {
    const text = request === null ? '' : await transactions.run(recallScript, request.key);
    if (request === null || text === '') return undefined;
    const { fingerprint, receipt, atMs }: StoredReceipt = JSON.parse(text);
    if (atMs <= request.nowMs - idempotencyMs) return undefined;
    refuseOtherRequest(request, fingerprint);
    await transactions.confirm(); // the first request can have failed because no replica had its change yet
    return receipt;
  };
}

function toNeeds(
  bounds: StoreBounds | null,
  before: StoredSession | null,
  { transition }: Acceptance,
): Need[] {
  const { client } = transition.record;
  const amount = bytesOf(transition) + keyRowBytes + (before === null ? emptySessionBytes : 0);
  return [
    ...toNeed(bounds, { field: 'pending', client, amount: 1 }),
    ...toNeed(bounds, { field: 'stored', client, amount }),
    ...(before === null ? toNeed(bounds, { field: 'live', client, amount: 1 }) : []),
  ];
}

function withEmptySession(acceptance: Acceptance, request: KeyedRequest | null): Acceptance {
  const { transition } = acceptance;
  const storedBytes = emptySessionBytes + (request === null ? 0 : keyRowBytes);
  const record = { ...transition.record, storedBytes };
  return { ...acceptance, transition: { ...transition, record } };
}
