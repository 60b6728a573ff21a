import {
  columns,
  evictable,
  maxEvictions,
  type Quantity,
  toLimits,
  toQuotaProblem,
} from '../quotas.ts';
import {
  type Acceptance,
  idempotencyMs,
  type KeyedRequest,
  type Receipt,
  refuseOtherRequest,
  type SessionStore,
} from '../session-store.ts';
import { endSession, type SessionRecord } from '../state.ts';
import { emptySessionBytes, keyRowBytes, toMessageBytes } from '../writes.ts';
import type { Changes } from './changes.ts';
import { keys } from './commands.ts';
import { roomScript } from './scripts.ts';
import type { Excess, Need, StoredSession } from './transactions.ts';

type Admission = Pick<SessionStore, 'start' | 'accept' | 'recall' | 'makeRoom'>;

/** Creates the functions that accept messages, and evict sessions only for their own client. */
export function createAdmission(changes: Changes): Admission {
  const { transactions, boundsOf, load, repeat, write } = changes;
  const recall = createRecall(changes);
  const evictWhile = createEviction(changes);
  const toNeed = (quantity: Quantity, { client }: SessionRecord, amount: number): Need[] => {
    const quotas = boundsOf()?.quotas;
    if (quotas === undefined) return [];
    const limits = toLimits(quotas, quantity, client);
    return [{ quantity, column: columns[quantity], amount, limits }];
  };
  const admit = async (
    before: StoredSession | null,
    { transition, receipt }: Acceptance,
    request: KeyedRequest | null,
  ): Promise<Receipt | 'retry'> => {
    const { record } = transition;
    const bytes = toMessageBytes(transition) + keyRowBytes + (before ? 0 : emptySessionBytes);
    const needs = [
      ...toNeed('queuedTurns', record, 1),
      ...toNeed('sessionBytes', record, bytes),
      ...(before ? [] : toNeed('sessions', record, 1)),
    ];
    let answer: Receipt | undefined;
    const excess = await evictWhile(record, async () => {
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
      const storedBytes = emptySessionBytes + (request === null ? 0 : keyRowBytes);
      const record = { ...transition.record, storedBytes };
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
    makeRoom: async (id) => {
      const record = (await load(id))?.record;
      if (record === undefined) return false;
      const excess = await evictWhile(record, async () => {
        const [need] = toNeed('sessionBytes', record, 0);
        const scope = need && (await transactions.run(roomScript, JSON.stringify(need)));
        return scope ? { quantity: 'sessionBytes', scope: scope as Excess['scope'] } : undefined;
      });
      return excess === undefined;
    },
  };
}

/** Creates the function that evicts a client's oldest sessions while `attempt` finds an excess. */
function createEviction({ transactions, change, purge, boundsOf }: Changes) {
  const now = () => boundsOf()?.clock.now() ?? 0;
  const end = (record: SessionRecord) =>
    record.state === 'waiting' ? endSession(record, 'evicted', now()) : null;
  /** Returns whether there was a session to evict except `id`. */
  const evictOldest = async (quantity: Quantity, { id, client }: SessionRecord) => {
    const sets = new Set(
      evictable[quantity].map((state) => (state === 'waiting' ? keys.waiting : keys.over)),
    );
    for (const set of sets) {
      const oldest = await transactions.callList('ZRANGE', `${set}${client?.address}`, 0, 1);
      const victim = oldest.find((one) => one !== id);
      if (victim === undefined) continue;
      if (quantity === 'sessions') await change(victim, end);
      else await purge(victim, now());
      return true;
    }
    return false;
  };
  return async (
    record: SessionRecord,
    attempt: () => Promise<Excess | undefined>,
  ): Promise<Excess | undefined> => {
    for (let evicted = 0; ; evicted += 1) {
      const excess = await attempt();
      if (excess === undefined || excess.scope === 'total' || evicted === maxEvictions)
        return excess;
      if (!(await evictOldest(excess.quantity, record))) return excess;
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
