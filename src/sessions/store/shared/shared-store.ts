import { everyone, type Quotas } from '../../../lib/scheduling/quotas.ts';
import {
  columns,
  evictable,
  maxEvictions,
  needOfAnswer,
  type Quantity,
  toNeeds,
  toNewRecord,
  toQuotaProblem,
} from '../quotas.ts';
import {
  type Acceptance,
  type AnsweredTurn,
  chunkLength,
  idempotencyMs,
  type KeyedRequest,
  type Receipt,
  refuseOtherRequest,
  type SessionStore,
} from '../session-store.ts';
import { endSession, type SessionRecord } from '../state.ts';
import { type Changes, createChanges } from './changes.ts';
import { answeredScript, eventsScript, roomScript } from './scripts.ts';
import {
  type Excess,
  keys,
  type SharedSessionsOptions,
  type StoredSession,
  type Transactions,
  withLimits,
} from './transactions.ts';

const maxPurged = 100_000;
const pageSize = 100;

/** Opens the store of all instances. Only the holder of a session's lease answers it. */
export function openSharedSessions(options: SharedSessionsOptions): SessionStore {
  const changes = createChanges(options);
  const { change, purge, transactions, leases } = changes;
  return {
    isShared: true,
    ...createReads(transactions),
    ...createLists(transactions),
    ...createAdmission(changes, options.quotas),
    probe: transactions.probe,
    runs: (id) => leases.held.has(id),
    change: (id, decide) => change(id, decide),
    changeOwn: (id, decide) => change(id, decide, options.engine.instance),
    purge,
    forget: async ({ purgedMs }) => {
      // Idempotency keys expire by themselves.
      await transactions.call('ZREMRANGEBYSCORE', keys.purged, '-inf', purgedMs);
      await transactions.call('ZREMRANGEBYRANK', keys.purged, 0, -1 - maxPurged);
    },
    onCommit: leases.onCommit,
    onTakeOver: leases.onTakeOver,
    close: leases.close,
  };
}

function createReads({ call, list, find }: Transactions) {
  return {
    find,
    readEvents: async (id, from) => {
      const lines = await list(eventsScript, id, from, chunkLength);
      return lines.map((line, at) => ({ index: from + at, line }));
    },
    // The text of a message is never empty.
    readText: async (id, sequence) =>
      (await call('HGET', keys.record + id, `text:${sequence}`)) || undefined,
    readAnswered: async (id, { before, count }) => {
      const fields = await list(answeredScript, id, before, count);
      const turns: AnsweredTurn[] = [];
      for (let at = 0; at < fields.length; at += 2) {
        turns.unshift({ question: fields[at] ?? '', line: fields[at + 1] ?? '' });
      }
      return turns;
    },
  } satisfies Partial<SessionStore>;
}

function createLists({ call, callList, load }: Transactions) {
  const idsUntil = (set: string, until: number | string, from = 0) =>
    callList('ZRANGEBYSCORE', set, '-inf', until, 'LIMIT', from, pageSize);
  const recordsOf = async (ids: readonly string[]): Promise<readonly SessionRecord[]> => {
    const found = await Promise.all(ids.map(load));
    return found.flatMap((stored) => stored?.record ?? []);
  };
  return {
    list: async function* (which) {
      for (let from = 0; ; from += pageSize) {
        const ids = await idsUntil(keys.all, '+inf', from);
        const records = await recordsOf(ids);
        yield which === 'all' ? records : records.filter(({ state }) => state === 'running');
        if (ids.length < pageSize) return;
      }
    },
    listExpired: async ({ idleMs, createdMs }) => {
      const idle = await idsUntil(keys.idle, idleMs);
      const old = await recordsOf(await idsUntil(keys.live, createdMs));
      const waiting = old.filter(({ state }) => state === 'waiting').map(({ id }) => id);
      return [...new Set([...idle, ...waiting])].slice(0, pageSize);
    },
    listStale: (endedMs) => idsUntil(keys.ended, endedMs),
    countLive: async () => Number(await call('HGET', keys.use + everyone, columns.sessions)),
    countStored: async () => Number(await call('HGET', keys.use + everyone, columns.sessionBytes)),
  } satisfies Partial<SessionStore>;
}

type Admission = Pick<SessionStore, 'start' | 'accept' | 'recall' | 'makeRoom'>;

/** Creates the functions that accept messages, and evict sessions only for their own client. */
function createAdmission(changes: Changes, quotas?: Quotas): Admission {
  const { transactions, repeat, write } = changes;
  const { load } = transactions;
  const recall = createRecall(transactions);
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

function createRecall({ call, load, confirm }: Transactions): SessionStore['recall'] {
  return async (request) => {
    const text = request === null ? '' : await call('GET', keys.once + request.key);
    if (request === null || text === '') return undefined;
    const { fingerprint, receipt, atMs }: StoredReceipt = JSON.parse(text);
    if (atMs <= request.nowMs - idempotencyMs) return undefined;
    if ((await load(receipt.sessionId)) === undefined) return undefined;
    refuseOtherRequest(request, fingerprint);
    await confirm(); // the first request can have failed because no replica had its change yet
    return receipt;
  };
}
