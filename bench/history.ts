import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { loadConfig } from '../src/config/config.ts';
import { systemClock } from '../src/lib/clock.ts';
import { systemRandom } from '../src/lib/random.ts';
import { buildApp } from '../src/server/build-app.ts';
import {
  createFakeTimeline,
  type Entry,
  type EntryKind,
  type FakeTimeline,
  timelineHandle,
} from '../test/support/fake-timeline.ts';
import { createChance } from '../test/support/history-rig.ts';

const pageMs = 1000;
const pageSize = 30;
const shortShare = 0.1;
const goal = 10;
const dayMs = 86_400_000;

/** Local server that simulates the upstream, with its statistics. */
interface Upstream {
  readonly url: string;
  readonly requests: number;
  /** Maximum number of requests that arrived within any 60 seconds. */
  readonly mostInMinute: number;
  /** Number of requests answered with status 429. */
  readonly refused: number;
  close(): void;
}

interface Measured {
  readonly seconds: number;
  readonly share: number;
  readonly upstream: Upstream;
}

/**
 * Measures the import of an account's post history from a simulated upstream. The upstream takes one second for a page
 * of 30 posts, sends one page in ten with fewer posts, and enforces a rate limit. @returns The lines of a Markdown
 * section.
 */
export async function benchHistory(): Promise<string[]> {
  const posts = 2000;
  const serial = await measure({ posts, perMinute: 840, concurrency: 1 });
  const parallel = await measure({ posts, perMinute: 840 });
  const slow = await measure({ posts: 1000, perMinute: 60 });
  const ratio = serial.seconds / parallel.seconds;
  return [
    '## History',
    '',
    'Import of all posts of an account over HTTP as NDJSON. The upstream on loopback takes 1 s for a page of',
    `${pageSize} posts, sends one page in ten with fewer posts, and answers 429 above its limit per 60 s.`,
    `Goals: ${goal} times as fast as sequential pages, all posts found, no request above the limit.`,
    '',
    '| walk | posts | limit/min | seconds | found | requests | most in 60 s | 429 |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    row('sequential pages', { posts, perMinute: 840 }, serial),
    row('default settings', { posts, perMinute: 840 }, parallel),
    row('low rate limit', { posts: 1000, perMinute: 60 }, slow),
    '',
    `Ratio: ${ratio.toFixed(1)}`,
    '',
  ];
}

interface Case {
  readonly posts: number;
  readonly perMinute: number;
  /**
   * Maximum number of pages that Perch requests from the upstream at the same time. Default: the
   * default of `PERCH_HISTORY_CONCURRENCY`.
   */
  readonly concurrency?: number;
}

function row(name: string, { posts, perMinute }: Case, { seconds, share, upstream }: Measured) {
  const { requests, mostInMinute, refused } = upstream;
  const found = `${(share * 100).toFixed(1)} %`;
  return `| ${name} | ${posts} | ${perMinute} | ${seconds.toFixed(1)} | ${found} | ${requests} | ${mostInMinute} | ${refused} |`;
}

async function measure({ posts, perMinute, concurrency }: Case): Promise<Measured> {
  const timeline = createFakeTimeline(makeEntries(posts), {
    pageSize,
    shortShare,
    end: 'same',
    hasPinned: true,
    repeats: true,
  });
  const upstream = await startUpstream(timeline, perMinute);
  const loaded = loadConfig({
    PERCH_DATA_DIR: ':memory:',
    PERCH_SESSIONS: 'off',
    PERCH_PROVIDERS: 'fxtwitter',
    PERCH_FXTWITTER_URL: upstream.url,
    PERCH_FXTWITTER_PER_MINUTE: String(perMinute),
    PERCH_HISTORY_TIMEOUT_MS: '600000',
    ...(concurrency === undefined ? {} : { PERCH_HISTORY_CONCURRENCY: String(concurrency) }),
  });
  if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
  const { server } = await buildApp({
    config: loaded.config,
    clock: systemClock,
    random: systemRandom,
    logger: pino({ level: 'silent' }),
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  const begin = performance.now();
  const found = await readIds(`${address}/${timelineHandle}/posts?max_posts=5000&format=ndjson`);
  const seconds = (performance.now() - begin) / 1000;
  await server.close();
  upstream.close();
  return { seconds, share: shareOf(found, timeline), upstream };
}

/**
 * Requests the post history of an account as NDJSON, and returns the ids of the posts.
 * @throws Error if the response is incomplete
 */
async function readIds(url: string): Promise<readonly string[]> {
  const reply = await fetch(url);
  const lines = (await reply.text()).trimEnd().split('\n');
  const last = JSON.parse(lines.at(-1) ?? '{}');
  if (last.meta?.floor_reached !== true)
    throw new Error(`The import did not finish: ${lines.at(-1)}`);
  return lines.slice(0, -1).map((line) => JSON.parse(line).post.id);
}

/** Returns the share of the timeline's posts that the import returned. @throws Error for duplicate or unknown posts */
function shareOf(found: readonly string[], timeline: FakeTimeline): number {
  const truth = new Set(
    timeline
      .truth({
        sinceSeconds: null,
        untilSeconds: null,
        withReplies: true,
        withReposts: true,
        onlyReplies: false,
      })
      .map(({ id }) => id),
  );
  const ids = new Set(found);
  if (ids.size !== found.length) throw new Error('A post was returned twice.');
  for (const id of ids) if (!truth.has(id)) throw new Error(`Post ${id} does not exist.`);
  return ids.size / truth.size;
}

/** Creates a timeline with busy weeks and quiet months, including replies and reposts. */
function makeEntries(count: number): readonly Entry[] {
  const kinds: readonly EntryKind[] = [
    'post',
    'reply',
    'post',
    'repost',
    'post',
    'module',
    'reply',
  ];
  const chance = createChance(42);
  let ms = Date.UTC(2026, 9, 1);
  return Array.from({ length: count }, (_, index): Entry => {
    const isBusy = Math.floor(index / 250) % 2 === 0;
    ms -= Math.ceil(chance() * (isBusy ? dayMs / 12 : dayMs));
    return { ms, kind: kinds[index % kinds.length] ?? 'post' };
  });
}

async function startUpstream(timeline: FakeTimeline, perMinute: number): Promise<Upstream> {
  const chance = createChance(7);
  const times: number[] = [];
  const counts = { most: 0, refused: 0 };
  const server = createServer((request, response) => {
    const now = performance.now();
    times.push(now);
    const recent = times.filter((at) => now - at < 60_000).length;
    counts.most = Math.max(counts.most, recent);
    const isOver = recent > perMinute;
    if (isOver) counts.refused += 1;
    const body = isOver ? { code: 429 } : timeline.answer(request.url ?? '', chance);
    setTimeout(() => {
      response.writeHead(isOver ? 429 : Number(body.code), { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    }, pageMs);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    get requests() {
      return times.length;
    },
    get mostInMinute() {
      return counts.most;
    },
    get refused() {
      return counts.refused;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log((await benchHistory()).join('\n'));
}
