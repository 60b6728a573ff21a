import type { Quotas } from '../../../lib/scheduling/quotas.ts';
import { evictable, maxEvictions, needOfAnswer, type Quantity, toQuotaProblem } from '../quotas.ts';
import {
  type Acceptance,
  idempotencyMs,
  type KeyedRequest,
  type Receipt,
  refuseOtherRequest,
  type SessionStore,
} from '../session-store.ts';
import { endSession, type SessionRecord } from '../state.ts';
import { toNeeds, toNewRecord } from '../writes.ts';
import type { Changes } from './changes.ts';
import { keys } from './commands.ts';
import { roomScript } from './scripts.ts';
import { type Excess, type StoredSession, withLimits } from './transactions.ts';

type Admission = Pick<SessionStore, 'start' | 'accept' | 'recall' | 'makeRoom'>;

/** Creates the functions that accept messages, and evict sessions only for their own client. */
export function createAdmission(changes: Changes, quotas?: Quotas): Admission {
  const { transactions, load, repeat, write } = changes;
  const recall = createRecall(changes);
  const evictWhile = createEviction(changes);
  const admit = async (
    before: StoredSession | null,
    { transition, receipt }: Acceptance,
    request: KeyedRequest | null,
  ): Promise<Receipt | 'retry'> => {
    const { record } = transition;
    const needs = withLimits(toNeeds(transition, before === null), record, quotas);
    let answer: Receipt | undefined;
    const excess = await evictWhile(record, record.activeMs, async () => {
      const { outcome } = await write(before, transition, { needs, request, receipt });
      if (outcome.kind === 'ok') answer = receipt;
      else if (outcome.kind === 'once') answer = await recall(request);
      return outcome.kind === 'excess' ? outcome : undefined;
    });
    if (excess !== undefined) throw toQuotaProblem(excess.quantity, excess.scope);
    return answer ?? 'retry';
  };
  return {
    recall,
    start: ({ transition, receipt }, request) => {
      const record = toNewRecord(transition, request);
      const acceptance = { transition: { ...transition, record }, receipt };
      return repeat(() => admit(null, acceptance, request));
    },
    accept: (id, request, decide) =>
      repeat(async () => {
        const known = await recall(request);
        const before = known === undefined ? await load(id) : undefined;
        if (before === undefined) return known;
        return admit(before, decide(before.record), request);
      }),
    makeRoom: async (id, nowMs) => {
      const record = (await load(id))?.record;
      if (record === undefined) return false;
      const [need] = withLimits([needOfAnswer], record, quotas);
      const excess = await evictWhile(record, nowMs, async () => {
        const [scope] = await transactions.list(roomScript, JSON.stringify(need));
        return scope ? { quantity: 'sessionBytes', scope: scope as Excess['scope'] } : undefined;
      });
      return excess === undefined;
    },
  };
}

/** Creates the function that evicts a client's oldest sessions while `attempt` finds an excess. */
function createEviction({ transactions, change, purge }: Changes) {
  /** Returns whether there was a session to evict except `id`. */
  const evictOldest = async (quantity: Quantity, { id, client }: SessionRecord, nowMs: number) => {
    const end = (record: SessionRecord) =>
      record.state === 'waiting' ? endSession(record, 'evicted', nowMs) : null;
    const sets = new Set(
      evictable[quantity].map((state) => (state === 'waiting' ? keys.waiting : keys.over)),
    );
    for (const set of sets) {
      const oldest = await transactions.callList('ZRANGE', `${set}${client?.address}`, 0, 1);
      const victim = oldest.find((one) => one !== id);
      if (victim === undefined) continue;
      if (quantity === 'sessions') await change(victim, end);
      else await purge(victim, nowMs);
      return true;
    }
    return false;
  };
  return async (
    record: SessionRecord,
    nowMs: number,
    attempt: () => Promise<Excess | undefined>,
  ): Promise<Excess | undefined> => {
    for (let evicted = 0; ; evicted += 1) {
      const excess = await attempt();
      if (excess === undefined || excess.scope === 'total' || evicted === maxEvictions)
        return excess;
      if (!(await evictOldest(excess.quantity, record, nowMs))) return excess;
    }
  };
}

type StoredReceipt = Readonly<{ fingerprint: string; receipt: Receipt; atMs: number }>;

function createRecall({ transactions, load }: Changes): SessionStore['recall'] {
  return async (request) => {
    const text = request === null ? '' : await transactions.call('GET', keys.once + request.key);
    if (request === null || text === '') return undefined;
    const { fingerprint, receipt, atMs }: StoredReceipt = JSON.parse(text);
    if (atMs <= request.nowMs - idempotencyMs) return undefined;
    if ((await load(receipt.sessionId)) === undefined) return undefined;
    refuseOtherRequest(request, fingerprint);
    await transactions.confirm(); // the first request can have failed because no replica had its change yet
    return receipt;
  };
}
