import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../src/lib/clock.ts';
import type { HttpAnswer, HttpClient } from '../../src/lib/http/http-client.ts';
import { countJsonDelimiters, maxJsonDelimiters } from '../../src/lib/http/json-bodies.ts';
import { ProviderError } from '../../src/normalize/provider-error.ts';
import { createBluesky } from '../../src/providers/bluesky/index.ts';
import { createFxTwitter } from '../../src/providers/fxtwitter/index.ts';
import { createMastodon } from '../../src/providers/mastodon/index.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { createSyndication } from '../../src/providers/syndication/index.ts';
import { createOpenLimits } from '../../test/support/mastodon-rig.ts';
import { createRandomSource, type RandomSource } from './random-text.ts';
import { renderAccounts, renderFound, renderPosts } from './renderings.ts';

/** Test case: an upstream response that is expensive to parse. */
export interface Case {
  readonly name: string;
  /** Maximum size of a response body that Perch accepts from the upstream, in bytes. */
  readonly maxBytes: number;
  /** Creates response bodies of about `bytes` bytes. Returns a function that reads and renders these bodies. */
  prepare(seed: string, bytes: number): () => Promise<void>;
}

/**
 * Response bodies, each with a word of the request path as its key. A request gets the first body
 * whose key occurs in the path.
 */
export type Bodies = Readonly<Record<string, unknown>>;

/** Upstream client (provider) and read operation to test, and a function that creates the response bodies. */
export interface CaseOptions {
  readonly provider: keyof typeof providers;
  readonly read: keyof typeof reads;
  readonly name: string;
  readonly write: (random: RandomSource, bytes: number) => Bodies;
}

const mebibyte = 1_048_576;
const apiUrl = 'https://api.example';
/** Clock with a fixed time, which is later than the time of every post. */
const clock: Clock = { now: () => 1_900_000_000_000, sleep: () => Promise.resolve() };

const providers = {
  fxtwitter: {
    maxBytes: 2 * mebibyte,
    subject: { platform: 'x', handle: 'mira_holm', id: '2001' },
    create: (http: HttpClient) => createFxTwitter({ http, apiUrl, clock }),
  },
  syndication: {
    maxBytes: 2 * mebibyte,
    subject: { platform: 'x', handle: 'mira_holm', id: '2001' },
    create: (http: HttpClient) => createSyndication({ http, apiUrl }),
  },
  bluesky: {
    maxBytes: 2 * mebibyte,
    subject: { platform: 'bluesky', handle: 'mira.test', id: '3kabc' },
    create: (http: HttpClient) => createBluesky({ http, apiUrl, clock }),
  },
  mastodon: {
    maxBytes: mebibyte,
    subject: { platform: 'mastodon', handle: 'mira@reef.example.org', id: '110' },
    create: (http: HttpClient) => createMastodon({ http, clock, callHost: createOpenLimits() }),
  },
} as const;

type Subject = (typeof providers)[keyof typeof providers]['subject'];

const page = { cursor: null, count: 100 } as const;
const context = () => ({ signal: new AbortController().signal });

const reads = {
  post: async ({ fetch: ask }: Provider, post: Subject) => {
    const found = await ask.post?.({ kind: 'post', post, thread: true, replies: 'top' }, context());
    if (found !== undefined) await renderFound(found);
  },
  timeline: async ({ fetch: ask }: Provider, account: Subject) => {
    const filters = { withReplies: true, withReposts: true, untilSeconds: null };
    const found = await ask.timeline?.(
      { ...page, ...filters, kind: 'timeline', account },
      context(),
    );
    if (found !== undefined) await renderPosts(found);
  },
  followers: async ({ fetch: ask }: Provider, account: Subject) => {
    const found = await ask.followers?.({ ...page, kind: 'followers', account }, context());
    if (found !== undefined) await renderAccounts(found);
  },
} as const;

/**
 * Creates a test case that reads generated bodies as responses of an upstream, and renders the result in all formats.
 */
export function createCase({ provider, read, name, write }: CaseOptions): Case {
  const { maxBytes, subject, create } = providers[provider];
  const title = `${provider} ${read}: ${name}`;
  return {
    name: title,
    maxBytes,
    prepare: (seed, bytes) => {
      const bodies = writeAccepted(
        (most) => write(createRandomSource(`${seed} ${title}`), most),
        bytes,
      );
      const http: HttpClient = {
        get: ({ pathname }) => setImmediate(toAnswer(bodies, pathname)),
        close: () => Promise.resolve(),
      };
      return async () => {
        try {
          await reads[read](create(http), subject);
        } catch (error) {
          // Providers refuse lists that are longer than requested.
          if (!(error instanceof ProviderError)) throw error;
        }
      };
    },
  };
}

type Written = readonly (readonly [word: string, body: string])[];

/**
 * Serializes response bodies of about `bytes` bytes. Makes the bodies smaller if one of them would
 * contain more than `maxJsonDelimiters` delimiters, because Perch rejects such a body.
 */
function writeAccepted(write: (bytes: number) => Bodies, bytes: number): Written {
  const written = Object.entries(write(bytes)).map(
    ([word, body]) => [word, JSON.stringify(body)] as const,
  );
  const marks = Math.max(...written.map(([, body]) => countJsonDelimiters(Buffer.from(body))));
  if (marks <= maxJsonDelimiters) return written;
  return writeAccepted(write, (bytes * 0.98 * maxJsonDelimiters) / marks);
}

function toAnswer(bodies: Written, path: string): HttpAnswer {
  const text = bodies.find(([word]) => path.includes(word))?.[1];
  return {
    status: text === undefined ? 404 : 200,
    mediaType: 'application/json',
    retryAfterSeconds: undefined,
    text: text ?? '{"code":404}',
    header: () => undefined,
  };
}

/** Creates rows with `make` until the JSON of all rows has about `bytes` bytes. */
export function fill<Row>(bytes: number, make: (index: number) => Row): Row[] {
  const rows: Row[] = [];
  for (let written = 0; written < bytes; ) {
    const row = make(rows.length);
    rows.push(row);
    written += JSON.stringify(row).length + 1;
  }
  return rows;
}
