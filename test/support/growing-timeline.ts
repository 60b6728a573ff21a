import { leastIdAt } from '../../src/providers/fxtwitter/lists/timeline.ts';
import { unhurried } from './build-app.ts';
import { answerJson, type FakeHandler } from './fake-upstream.ts';
import { upstream } from './listen.ts';
import {
  type Fields,
  fxNoList,
  fxNoUser,
  fxPage,
  fxProfile,
  fxStatus,
  fxUser,
  toXTime,
} from './x-payloads.ts';

/** Account `wren` on a fake FxTwitter on loopback, which publishes posts during a test. */
export interface GrowingTimeline {
  /** Environment variables with which Perch reads from the fake only. */
  readonly env: Readonly<Record<string, string>>;
  /** Ids of the published posts, oldest first. */
  readonly ids: readonly string[];
  /** Number of requests for lists so far. */
  readonly reads: () => number;
  /** Publishes posts, each a minute newer than the one before. Returns their ids, oldest first. */
  publish(count: number): readonly string[];
  /** Reposts an old post of another account. Returns the id of that post. */
  repost(): string;
  /** Publishes a post between the two newest ones. Returns its id. */
  publishLate(): string;
  /** Deletes posts. */
  remove(...ids: readonly string[]): void;
  /** Puts a post at the top of the timeline, regardless of its time. */
  pin(id: string): void;
  /** Adds a post that is older than all others. Returns its id. */
  publishOld(): string;
  /** Answers all requests with another handler, or as before for `null`. */
  interrupt(handler: FakeHandler | null): void;
}

interface Row {
  readonly id: string;
  readonly fields: Fields;
}

const startMs = Date.UTC(2026, 0, 1);
const minuteMs = 60_000;

/** Starts an account with some posts. A search for any text finds the same posts. */
export async function startGrowingTimeline(count: number): Promise<GrowingTimeline> {
  let rows: Row[] = []; // newest first
  let minutes = 0;
  let reads = 0;
  let pinned: string | null = null;
  let interruption: FakeHandler | null = null;
  const fake = await upstream((request, response) => {
    if (interruption !== null) {
      interruption(request, response);
      return;
    }
    const url = new URL(request.url ?? '/', 'http://x.example');
    if (/\/wren\/statuses$|\/search$/.test(url.pathname)) reads += 1;
    answerJson(response, toAnswer(url, rows, pinned));
  });
  const ids: string[] = [];
  const publish = (many: number): readonly string[] => {
    const added = Array.from({ length: many }, () => toRow(startMs + ++minutes * minuteMs));
    rows = [...added.toReversed(), ...rows];
    ids.push(...added.map(({ id }) => id));
    return added.map(({ id }) => id);
  };
  publish(count);
  return {
    env: {
      ...unhurried,
      PERCH_PROVIDERS: 'fxtwitter',
      PERCH_FXTWITTER_URL: fake.url,
      PERCH_PUBLIC_ALLOWANCE: '9999',
    },
    ids,
    reads: () => reads,
    publish,
    repost: () => {
      const fields = { author: fxUser('ilse_brandt'), reposted_by: fxUser('wren') };
      const row = toRow(startMs - 90 * 86_400_000 + ++minutes * minuteMs, fields);
      rows = [row, ...rows];
      return row.id;
    },
    publishLate: () => {
      const row = toRow(startMs + (minutes - 0.5) * minuteMs);
      rows = rows.toSpliced(1, 0, row);
      return row.id;
    },
    remove: (...gone) => {
      rows = rows.filter(({ id }) => !gone.includes(id));
    },
    pin: (id) => {
      pinned = id;
    },
    publishOld: () => {
      const row = toRow(startMs - minuteMs);
      rows = [...rows, row];
      return row.id;
    },
    interrupt: (handler) => {
      interruption = handler;
    },
  };
}

function toAnswer({ pathname, searchParams }: URL, rows: readonly Row[], pinned: string | null) {
  if (/\/wren\/statuses$|\/search$/.test(pathname)) return toPage(rows, searchParams, pinned);
  if (pathname.endsWith('/statuses')) return fxNoList;
  // Perch reads the accounts of X itself to confirm that another account does not exist.
  const [, handle] = /\/(wren|x|XDevelopers)$/.exec(pathname) ?? [];
  return handle === undefined ? fxNoUser : fxProfile(fxUser(handle));
}

function toRow(ms: number, fields: Fields = {}): Row {
  const id = String(leastIdAt(ms) + 1n);
  const seconds = Math.floor(ms / 1000);
  const times = { created_at: toXTime(seconds), created_timestamp: seconds };
  return { id, fields: fxStatus(id, { author: fxUser('wren'), ...times, ...fields }) };
}

/** Returns a page. The cursor is the id of the last row of the page before. */
function toPage(rows: readonly Row[], parameters: URLSearchParams, pinned: string | null): Fields {
  const cursor = parameters.get('cursor');
  const count = Number(parameters.get('count') ?? 20);
  const start = cursor === null ? 0 : rows.findIndex(({ id }) => id === cursor) + 1;
  const page = rows.slice(start, start + count);
  const bottom = start + count < rows.length ? (page.at(-1)?.id ?? null) : null;
  const top = cursor === null ? rows.filter(({ id }) => id === pinned) : [];
  const shown = [...top, ...page.filter((row) => !top.includes(row))];
  return fxPage(
    shown.map(({ fields }) => fields),
    bottom,
  );
}
