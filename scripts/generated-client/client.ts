/**
 * Test client that uses only `openapi-fetch` and types generated from the OpenAPI description. `scripts/test-client.sh`
 * type-checks the client and runs it against a server.
 */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from './perch.d.ts';

type Problem = components['schemas']['Problem'];

const [baseUrl = ''] = process.argv.slice(2);
/** Media types of the responses that the client accepts. */
type Read = 'application/json' | 'application/problem+json';

const perch = createClient<paths, Read>({
  baseUrl,
  headers: { accept: 'application/json' },
});

/** Returns the seconds to wait before retrying a failed request. @throws Error if a retry would not help */
function resolve({ code, resolution, retry_after: seconds }: Problem): number {
  switch (code) {
    case 'rate_limited':
    case 'upstream_rate_limited':
    case 'upstream_unavailable':
    case 'overloaded':
      ok(seconds !== undefined, `${code} has retry_after`);
      return seconds;
    default:
      throw new Error(`${code}: ${resolution}`);
  }
}

async function readPost(): Promise<void> {
  const query = { handle: 'ada.example', id: '1900000000000000001', thread: 'off' } as const;

  const { data, response } = await perch.GET('/api/v1/posts', { params: { query } });

  ok(data, 'the post was found');
  const [post] = data.posts;
  equal(post?.type, 'status');
  equal(post.author.screen_name, 'ada.example');
  const likes: number | null = post.likes;
  ok(likes === null || likes >= 0);
  match(data.markdown, /^# /);
  equal(response.headers.get('x-source'), data.source);
}

async function readMissingPost(): Promise<void> {
  const query = { handle: 'ada.example', id: '1' };

  const { data, error, response } = await perch.GET('/api/v1/posts', { params: { query } });

  equal(data, undefined);
  equal(response.status, 404);
  equal(error?.code, 'not_found');
}

/** Reads all pages of a search, with up to `limit` posts each, and returns the post ids. */
async function readSearch(limit: number): Promise<readonly string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const { data, error } = await perch.GET('/api/v1/search', {
      params: {
        query: {
          ...({ q: 'heron', platform: 'archive', limit } as const),
          ...(cursor === undefined ? {} : { cursor }),
        },
      },
    });
    if (data === undefined) throw new Error(error.resolution);
    const posts = data.posts ?? [];
    ok(posts.length <= limit, 'a page has no more than its limit');
    ids.push(...posts.map(({ id }) => id ?? 'a tombstone'));
    cursor = data.nextCursor;
  } while (cursor !== undefined);
  return ids;
}

/**
 * Sends searches until the rate limit is exceeded, waits for the number of seconds in the error response, and checks
 * that a search succeeds again.
 */
async function waitOutAllowance(): Promise<void> {
  const search = () =>
    perch.GET('/api/v1/search', {
      params: { query: { q: 'heron', platform: 'archive', nocache: true } },
    });
  for (let tries = 0; tries < 100; tries += 1) {
    const { error, response } = await search();
    if (error === undefined) continue;
    equal(response.status, 429);
    equal(error.code, 'rate_limited');
    const seconds = resolve(error);
    equal(response.headers.get('retry-after'), String(seconds));
    await new Promise((wake) => setTimeout(wake, seconds * 1000));
    ok((await search()).data, 'the request succeeds after the wait');
    return;
  }
  throw new Error('The allowance was never spent.');
}

async function readProfile(): Promise<void> {
  const { data } = await perch.GET('/api/v1/profiles/{handle}/followers', {
    params: { path: { handle: 'ada.example' }, query: { limit: 3 } },
  });

  ok(data?.users, 'a list of followers has accounts');
  equal(data.limit, 3);
}

await readPost();
await readMissingPost();
await readProfile();
const found = await readSearch(2);
ok(found.length > 4, 'the search has more than two pages');
equal(new Set(found).size, found.length, 'no post is on two pages');
deepEqual(found, await readSearch(100), 'pages of any size have the same posts');
await waitOutAllowance();
console.log('client: ok');
