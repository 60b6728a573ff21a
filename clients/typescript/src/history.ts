import { isRecord, parseJson, splitLines } from './bodies.ts';
import { ConnectionError, ProblemError } from './errors.ts';
import type { HistoryIndexEntry, HistoryMetaLine, Post, Problem } from './generated.ts';
import type { CallOptions } from './options.ts';
import type { Read, Reader } from './reads.ts';
import { waitOrThrow } from './retry.ts';

/** Summary of a response that lists the posts of an account: time range, number of posts and gaps. */
export type HistoryMeta = HistoryMetaLine['meta'];

/** Posts of an account in a time range, newest first. The iteration yields each post as soon as the server sends it. */
export interface History<Item> extends AsyncIterable<Item> {
  /** Summary of the returned posts: time range, number and gaps; `null` until the iteration has ended. */
  readonly meta: HistoryMeta | null;
}

type Entry = Post | HistoryIndexEntry;

/**
 * Maximum time in milliseconds without a new line from the server. The server ends each response
 * after two minutes, so only a lost connection exceeds the maximum.
 */
const stallMs = 150_000;

/**
 * Creates an iterable of the posts of an account. If the connection is lost, the client repeats the
 * request and skips the posts that it has already read.
 */
export function createHistory<Item extends Entry>(
  reader: Reader,
  read: Read,
  call: CallOptions = {},
): History<Item> {
  let meta: HistoryMeta | null = null;
  async function* attempt(seen: SeenEntries): AsyncGenerator<Item> {
    seen.restart();
    const request = reader.toRequest(read);
    const { parts } = await reader.transport.open(request, { signal: call.signal, stallMs });
    for await (const text of splitLines(parts)) {
      const { post, ...end } = toLine<Item>(text);
      if (post !== undefined && seen.isNew(post)) yield post;
      meta = toMeta(end) ?? meta;
    }
    if (meta === null) throw new ConnectionError('connection_lost', 'The history was cut off.');
  }
  async function* items(): AsyncGenerator<Item> {
    const seen = createSeenEntries();
    meta = null;
    for (let failures = 0; meta === null; ) {
      const before = seen.size;
      try {
        yield* attempt(seen);
      } catch (error) {
        failures = seen.size > before ? 1 : failures + 1;
        await waitOrThrow(error, failures, { ...reader.transport, signal: call.signal });
      }
    }
  }
  return {
    [Symbol.asyncIterator]: items,
    get meta() {
      return meta;
    },
  };
}

/**
 * Returns the summary of the returned posts if the line contains it; otherwise `undefined`.
 * @throws ProblemError if the line contains an error
 */
function toMeta({ meta, error }: Pick<Line<unknown>, 'meta' | 'error'>): HistoryMeta | undefined {
  if (error !== undefined) throw new ProblemError(error);
  return meta;
}

interface Line<Item> {
  readonly post?: Item;
  readonly meta?: HistoryMeta;
  readonly error?: Problem;
}

/**
 * Parses a line of an NDJSON response that lists the posts of an account. Returns an empty object
 * if the line has an unknown form.
 */
function toLine<Item>(text: string): Line<Item> {
  const line = parseJson(text);
  if (!isRecord(line)) return {};
  const known = [line.post, line.meta, line.error];
  return known.every((value) => value === undefined || isRecord(value)) ? line : {};
}

type SeenEntries = ReturnType<typeof createSeenEntries>;

/** Creates a record of the received posts. After a repeated request, the client skips the posts in this record. */
function createSeenEntries() {
  const keys = new Set<string>();
  let counts = new Map<string, number>();
  let isAligned = true;
  return {
    get size() {
      return keys.size;
    },
    /**
     * Prepares for the response to a repeated request. Its first posts can be posts that were published after the first
     * request. The client skips these posts: `isNew` returns `false` for them.
     */
    restart: () => {
      counts = new Map();
      isAligned = keys.size === 0;
    },
    /**
     * Returns `false` if the client must skip the post: it was returned before, or it was published after the first
     * request. Otherwise records the post as returned and returns `true`.
     */
    isNew: (entry: Entry): boolean => {
      const id = toId(entry);
      const count = (counts.get(id) ?? 0) + 1;
      counts.set(id, count);
      // Placeholders can have the same id, so the key also contains the number of earlier entries with this id.
      const key = `${count} ${id}`;
      const isKnown = keys.has(key);
      isAligned ||= isKnown;
      if (isKnown || !isAligned) return false;
      keys.add(key);
      return true;
    },
  };
}

/**
 * Returns a key that identifies a post, a repost or a placeholder. A post and its repost have
 * different keys. The key of a placeholder without an id contains its URL.
 */
function toId(entry: Entry): string {
  if ('repost' in entry) return `${entry.id} ${entry.repost}`;
  if (entry.type === 'tombstone') return `${entry.id ?? entry.url} ${entry.reason}`;
  return `${entry.id} ${entry.reposted_by?.id ?? ''}`;
}
