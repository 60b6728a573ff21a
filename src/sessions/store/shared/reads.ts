import { type AnsweredTurn, chunkLength, type SessionMessage } from '../log-rows.ts';
import type { SessionStore } from '../session-store.ts';
import type { SessionRecord } from '../state.ts';
import { everyone, keys } from './keys.ts';
import {
  answeredScript,
  eventsScript,
  messagesScript,
  partScript,
  rangeScript,
  sumScript,
  textScript,
} from './scripts.ts';
import type { Transactions } from './transactions.ts';

const pageSize = 100;

type Reads = Pick<
  SessionStore,
  | 'readEvents'
  | 'readPart'
  | 'readText'
  | 'readMessages'
  | 'readAnswered'
  | 'list'
  | 'listExpired'
  | 'listStale'
  | 'countLive'
  | 'countStored'
>;

export function createSharedReads({ run, list, find }: Transactions): Reads {
  const idsUntil = (set: string, untilMs: number) =>
    list(rangeScript, set, '-inf', untilMs, pageSize);
  return {
    readEvents: async (id, from) => {
      const lines = await list(eventsScript, id, from, chunkLength);
      return lines.map((line, at) => ({ index: from + at, line }));
    },
    readPart: async (id, { index, offset }) => {
      const [length, part] = await list(partScript, id, index, offset, chunkLength);
      if (length === undefined || part === undefined) return undefined;
      const bytes = Buffer.from(part);
      return { bytes, isLast: offset + bytes.length >= Number(length) };
    },
    // The text of a message is never empty.
    readText: async (id, sequence) => (await run(textScript, id, sequence)) || undefined,
    readMessages: async (id) => {
      const found = await find(id);
      if (typeof found === 'string') return [];
      const fields = await list(messagesScript, id, found.record.accepted);
      return toMessages(fields);
    },
    readAnswered: async (id, { before, count }) => {
      const fields = await list(answeredScript, id, before, count);
      const turns: AnsweredTurn[] = [];
      for (let at = 0; at < fields.length; at += 2) {
        turns.unshift({ question: fields[at] ?? '', line: fields[at + 1] ?? '' });
      }
      return turns;
    },
    list: async function* (which) {
      const set = which === 'all' ? keys.all : keys.running;
      for (let from = 0; ; from += pageSize) {
        const ids = await list(rangeScript, set, '-inf', '+inf', pageSize, from);
        const found = await Promise.all(ids.map(find));
        yield found.flatMap((one): readonly SessionRecord[] =>
          typeof one === 'string' ? [] : [one.record],
        );
        if (ids.length < pageSize) return;
      }
    },
    listExpired: async ({ idleMs, createdMs }) => {
      const idle = await idsUntil(keys.waiting + everyone, idleMs);
      const old = await waitingOf(await idsUntil(keys.live, createdMs), find);
      return [...new Set([...idle, ...old])].slice(0, pageSize);
    },
    listStale: (endedMs) => idsUntil(keys.ended, endedMs),
    countLive: async () => Number(await run(sumScript, everyone, 'live')),
    countStored: async () => Number(await run(sumScript, everyone, 'stored')),
  };
}

async function waitingOf(ids: readonly string[], find: Transactions['find']) {
  const found = await Promise.all(ids.map(find));
  return ids.filter((_, at) => {
    const one = found[at];
    return typeof one === 'object' && one.record.state === 'waiting';
  });
}

function toMessages(fields: readonly string[]): readonly SessionMessage[] {
  const messages: SessionMessage[] = [];
  for (let at = 0; at < fields.length; at += 3) {
    const [deliveryId = '', text = '', state = ''] = fields.slice(at, at + 3);
    const sequence = at / 3;
    messages.push({ sequence, deliveryId, text, state: state as SessionMessage['state'] });
  }
  return messages;
}
