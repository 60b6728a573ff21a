import type { LightMyRequestResponse } from 'fastify';
import { feedFormats } from '../src/model/results.ts';
import type { RecordedExamples } from '../src/routes/openapi/examples.ts';
import { withoutCharset } from '../src/routes/openapi/problems.ts';
import type { Endpoint } from '../src/routes/route.ts';
import { endpoints } from '../src/server/endpoints.ts';
import { recordSessions, steadyEngine } from './record-session-examples.ts';
import {
  openSample,
  type RequestOptions,
  requireOk,
  type SendRequest,
  sampleToken,
} from './sample-server.ts';

const handle = 'ada.example';
const id = '1900000000000000001';

/** Request parameters of the recorded examples. */
const parameters = { handle, id, n: 1, q: 'heron', maxwidth: 400, maxheight: 300 };

/** Records examples for the OpenAPI description from a server with sample data and a fixed clock. */
export async function recordExamples(): Promise<RecordedExamples> {
  const sessions = await recordSessions();
  const { app, request, baseUrl } = await openSample({ engine: steadyEngine });
  const url = `${baseUrl}/${handle}/status/${id}`;
  try {
    const { cursor, ...reads } = await recordReads(request, url);
    return {
      baseUrl,
      parameters: {
        ...parameters,
        url,
        cursor,
        since: '2025-01-01',
        until: '2026-10-31',
        page: 2,
        format: 'json',
      },
      reads,
      endpoints: {
        ...(await recordDocuments(request)),
        getOpml: { 200: await recordOpml(request) },
        ...(await recordKeys(request)),
        ...sessions.endpoints,
      },
      problems: { ...sessions.problems, ...(await recordProblems(request, url)) },
    };
  } finally {
    await app.server.close();
  }
}

async function recordReads(request: SendRequest, url: string) {
  const inFormats = async (path: string, formats: readonly string[]) => {
    const bodies = new Map();
    // One after the other, because a client may import only a few histories at once.
    for (const format of formats) {
      const reply = await requireOk(request(`${path}&format=${format}`));
      bodies.set(format, format.startsWith('json') ? reply.json() : reply.body);
    }
    return Object.fromEntries(bodies);
  };
  const both = ['markdown', 'json'];
  const all = [...both, ...feedFormats];
  const profile = `/api/v1/profiles/${handle}`;
  const search = await inFormats(`/api/v1/search?q=${parameters.q}&limit=2`, all);
  const size = `maxwidth=${parameters.maxwidth}&maxheight=${parameters.maxheight}`;
  return {
    cursor: search.json.nextCursor,
    getPost: {
      ...(await inFormats(`/api/v1/posts?handle=${handle}&id=${id}`, [...both, 'obsidian'])),
      ...(await inFormats(`/api/v1/posts?handle=${handle}&id=${id}&thread=off`, feedFormats)),
    },
    listReplies: await inFormats(`/api/v1/posts/${id}/replies?handle=${handle}&limit=2`, all),
    getProfile: await inFormats(`${profile}?limit=2`, all),
    listFollowers: await inFormats(`${profile}/followers?limit=2`, both),
    listFollowing: await inFormats(`${profile}/following?limit=2`, both),
    searchPosts: search,
    importProfilePosts: {
      ...(await recordHistory(request, `${profile}/posts?max_posts=2`)),
      ...(await inFormats(`${profile}/posts?max_posts=2`, feedFormats)),
    },
    getOEmbed: await inFormats(`/api/v1/oembed?url=${encodeURIComponent(url)}&${size}`, ['json']),
  };
}

/**
 * Records examples of importing an account's posts, in JSON and NDJSON. The NDJSON example is the
 * last line of the response, which contains metadata instead of a post.
 */
async function recordHistory(request: SendRequest, path: string) {
  const [json, ndjson] = [
    await requireOk(request(path)),
    await requireOk(request(`${path}&format=ndjson`)),
  ];
  const last = ndjson.body.trimEnd().split('\n').at(-1) ?? '';
  return { json: json.json(), ndjson: JSON.parse(last) };
}

type Replies = RecordedExamples['endpoints'];

/**
 * Requests the documents about the server (such as `llms.txt`) and health checks, and returns the
 * responses. Omits `llms-full.txt`, and the OpenAPI description because it contains the examples.
 */
async function recordDocuments(request: SendRequest): Promise<Replies> {
  const documents = endpoints.filter(
    ({ method, path, tag, id: name }) =>
      method === 'GET' &&
      !path.includes('{') &&
      (tag === 'discovery' || tag === 'health') &&
      !['getOpenApi', 'getLlmsFullText'].includes(name),
  );
  const recorded = documents.map(
    async (endpoint) => [endpoint.id, { 200: await recordDocument(request, endpoint) }] as const,
  );
  return Object.fromEntries(await Promise.all(recorded));
}

async function recordOpml(request: SendRequest) {
  const reply = await requireOk(request('/api/v1/opml?handles=ada.example,otto.example'));
  return { [withoutCharset(String(reply.headers['content-type']))]: reply.body };
}

async function recordDocument(request: SendRequest, { path, replies }: Endpoint) {
  const content = replies.find(({ status }) => status === 200)?.content ?? {};
  const bodies: Record<string, unknown> = {};
  for (const mediaType of Object.keys(content)) {
    const reply = await requireOk(request(path, { headers: { accept: mediaType } }));
    bodies[withoutCharset(mediaType)] = bodyOf(reply);
  }
  return bodies;
}

function bodyOf(reply: LightMyRequestResponse): unknown {
  const mediaType = withoutCharset(String(reply.headers['content-type']));
  return /[/+]json$/.test(mediaType) ? reply.json() : reply.body;
}

const keys = '/api/admin/keys';
const asOperator = { authorization: `Bearer ${sampleToken}`, 'content-type': 'application/json' };

/** Records examples of the admin routes: creates, changes, reads and lists an API key. */
async function recordKeys(request: SendRequest): Promise<Replies> {
  const toExample = async (reply: LightMyRequestResponse) => ({
    [reply.statusCode]: { 'application/json': reply.json() },
  });
  const send = (url: string, options: RequestOptions) =>
    requireOk(request(url, { ...options, headers: asOperator }));
  const label = JSON.stringify({ label: 'Ada’s crawler', notes: 'Ten searches a minute.' });
  const created = await send(keys, { method: 'POST', payload: label });
  const key = `${keys}/${created.json().id}`;
  const change = JSON.stringify({ allowance: 1200 });
  return {
    createKey: await toExample(created),
    changeKey: await toExample(await send(key, { method: 'PATCH', payload: change })),
    getKey: await toExample(await send(key, { method: 'GET' })),
    listKeys: await toExample(await send(keys, { method: 'GET' })),
  };
}

/** Records an example of an error response for each error code. */
async function recordProblems(
  request: SendRequest,
  url: string,
): Promise<RecordedExamples['problems']> {
  const posts = '/api/v1/posts';
  const post = `${posts}?url=${encodeURIComponent(url)}`;
  const profile = encodeURIComponent(url.replace(/\/status\/.*$/, ''));
  const search = '/api/v1/search';
  const refused = [
    ...[posts, `${posts}?url=nonsense`, `${posts}?url=https://example.com/1`].map((one) =>
      request(one),
    ),
    ...[`${posts}?url=${profile}`, `${posts}?handle=${handle}`].map((one) => request(one)),
    ...[`${post}&thread=1`, `${post}&context=none`, `${post}&replies=old`].map((one) =>
      request(one),
    ),
    ...[`${post}&userinfo=some`, `${post}&format=pdf`].map((one) => request(one)),
    ...[`${posts}?handle=${handle}&id=1`, `${posts}?handle=jack&id=20`].map((one) => request(one)),
    ...[search, `${search}?q=heron&feed=old`, `${search}?q=heron&cursor=none`].map((one) =>
      request(one),
    ),
    ...[`${search}?q=heron&limit=none`, '/api/v1/profiles/a%20b', '/api/browse'].map((one) =>
      request(one),
    ),
    ...['/api/v1/oembed?format=xml', '/no/route', '/%zz'].map((one) => request(one)),
    request(`${search}?q=${'heron'.repeat(2000)}`),
    request(`${search}?q=heron`, { headers: { authorization: 'Bearer perch_unknown' } }),
    request(keys),
    ...(await refuseAll(url)),
  ];
  const documents = (await Promise.all(refused)).map((reply) => reply.json());
  return Object.fromEntries(documents.map((one) => [one.code, one] as const));
}

/**
 * Returns the error responses of three servers: one at its rate limit, one overloaded, and one
 * shutting down. `url`: URL of the post to request.
 */
async function refuseAll(url: string): Promise<readonly Promise<LightMyRequestResponse>[]> {
  const spent = await openSample({ env: { PERCH_PUBLIC_ALLOWANCE: '1' } });
  const busy = await openSample({ load: { isHigh: true, close: () => undefined } });
  const stopping = await openSample();
  stopping.app.startDraining();
  const search = '/api/v1/search?q=heron&nocache=true';
  await spent.request(search);
  const replies = [
    await spent.request(search),
    await busy.request(search),
    await stopping.request(`/api/v1/posts?url=${encodeURIComponent(url)}`),
  ];
  for (const { app } of [spent, busy, stopping]) await app.server.close();
  return replies.map(async (reply) => reply);
}
