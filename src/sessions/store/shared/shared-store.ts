import { everyone } from '../../../lib/scheduling/quotas.ts';
import { columns } from '../quotas.ts';
import { type AnsweredTurn, chunkLength, type SessionStore } from '../session-store.ts';
import type { SessionRecord } from '../state.ts';
import { createAdmission } from './admission.ts';
import { createChanges } from './changes.ts';
import { keys } from './commands.ts';
import { answeredScript, eventsScript } from './scripts.ts';
import type { SharedSessionsOptions, Transactions } from './transactions.ts';

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
    runs: leases.isHeld,
    change: (id, decide) => change(id, decide),
    changeOwn: (id, decide) => change(id, decide, options.engine.instance),
    purge,
    forget: async ({ purgedMs }) => {
      // Idempotency keys expire by themselves.
      await transactions.call('ZREMRANGEBYSCORE', keys.purged, '-inf', purgedMs);
      await transactions.call('ZREMRANGEBYRANK', keys.purged, 0, -1 - maxPurged);
    },
    onCommit: changes.onCommit,
    onTakeOver: leases.onTakeOver,
    close: leases.close,
  };
}

function createReads({ call, list, find }: Transactions) {
  return {
    find: async (id) => {
      const found = await find(id);
      if (typeof found === 'string') return { kind: found };
      return { kind: 'known', record: found.record };
    },
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

function createLists({ call, callList, find }: Transactions) {
  const idsUntil = (set: string, until: number | string, from = 0) =>
    callList('ZRANGEBYSCORE', set, '-inf', until, 'LIMIT', from, pageSize);
  const recordsOf = async (ids: readonly string[]): Promise<readonly SessionRecord[]> => {
    const found = await Promise.all(ids.map(find));
    return found.flatMap((one) => (typeof one === 'string' ? [] : [one.record]));
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
