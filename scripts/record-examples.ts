import type { LightMyRequestResponse } from 'fastify';
import { endpoints } from '../src/app/endpoints.ts';
import type { Endpoint } from '../src/core/endpoint.ts';
import type { RecordedExamples } from '../src/http/openapi/examples.ts';
import { withoutCharset } from '../src/http/openapi/problems.ts';
import { recordSessions, steadyEngine } from './record-session-examples.ts';
import { type Ask, type Asked, found, openSample, sampleToken } from './sample-server.ts';

const handle = 'ada.example';
const id = '1900000000000000001';

/** What the reads are asked with. */
const parameters = { handle, id, n: 1, q: 'heron', maxwidth: 400, maxheight: 300 };

/** Asks a server with the sample and a clock that stands still, and gives what it answered. */
export async function recordExamples(): Promise<RecordedExamples> {
  const sessions = await recordSessions();
  const { app, ask, baseUrl } = await openSample({ engine: steadyEngine });
  const url = `${baseUrl}/${handle}/status/${id}`;
  try {
    const { cursor, ...reads } = await recordReads(ask, url);
    return {
      baseUrl,
      parameters: { ...parameters, url, cursor, since: '2025-01-01', until: '2026-10-31', page: 2 },
      reads,
      endpoints: {
        ...(await recordDocuments(ask)),
        ...(await recordKeys(ask)),
        ...sessions.endpoints,
      },
      problems: { ...sessions.problems, ...(await recordProblems(ask, url)) },
    };
  } finally {
    await app.server.close();
  }
}

async function recordReads(ask: Ask, url: string) {
  const inFormats = async (path: string, formats: readonly string[]) => {
    const bodies = formats.map(async (format) => {
      const reply = await found(ask(`${path}&format=${format}`));
      return [format, format === 'json' ? reply.json() : reply.body] as const;
    });
    return Object.fromEntries(await Promise.all(bodies));
  };
  const both = ['markdown', 'json'];
  const profile = `/api/v1/profiles/${handle}`;
  const search = await inFormats(`/api/v1/search?q=${parameters.q}&limit=2`, both);
  const size = `maxwidth=${parameters.maxwidth}&maxheight=${parameters.maxheight}`;
  return {
    cursor: search.json.nextCursor,
    getPost: await inFormats(`/api/v1/posts?handle=${handle}&id=${id}`, [...both, 'obsidian']),
    listReplies: await inFormats(`/api/v1/posts/${id}/replies?handle=${handle}&limit=2`, both),
    getProfile: await inFormats(`${profile}?limit=2`, both),
    listFollowers: await inFormats(`${profile}/followers?limit=2`, both),
    listFollowing: await inFormats(`${profile}/following?limit=2`, both),
    searchPosts: search,
    importProfilePosts: await recordHistory(ask, `${profile}/posts?max_posts=2`),
    getOEmbed: await inFormats(`/api/v1/oembed?url=${encodeURIComponent(url)}&${size}`, ['json']),
  };
}

/** A stream has many values; its last line is the one that is no post. */
async function recordHistory(ask: Ask, path: string) {
  const [json, ndjson] = [await found(ask(path)), await found(ask(`${path}&format=ndjson`))];
  const last = ndjson.body.trimEnd().split('\n').at(-1) ?? '';
  return { json: json.json(), ndjson: JSON.parse(last) };
}

type Replies = RecordedExamples['endpoints'];

/** Asks for each document that anybody can get; the description cannot be an example in itself. */
async function recordDocuments(ask: Ask): Promise<Replies> {
  const documents = endpoints.filter(
    ({ method, path, tag, id: name }) =>
      method === 'GET' &&
      !path.includes('{') &&
      (tag === 'discovery' || tag === 'health') &&
      name !== 'getOpenApi',
  );
  const recorded = documents.map(
    async (endpoint) => [endpoint.id, { 200: await recordDocument(ask, endpoint) }] as const,
  );
  return Object.fromEntries(await Promise.all(recorded));
}

async function recordDocument(ask: Ask, { path, replies }: Endpoint) {
  const content = replies.find(({ status }) => status === 200)?.content ?? {};
  const bodies: Record<string, unknown> = {};
  for (const mediaType of Object.keys(content)) {
    const reply = await found(ask(path, { headers: { accept: mediaType } }));
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

/** Makes a key, changes it and replaces it. */
async function recordKeys(ask: Ask): Promise<Replies> {
  const tell = async (reply: LightMyRequestResponse) => ({
    [reply.statusCode]: { 'application/json': reply.json() },
  });
  const send = (url: string, asked: Asked) => found(ask(url, { ...asked, headers: asOperator }));
  const label = JSON.stringify({ label: 'Ada’s crawler', notes: 'Ten searches a minute.' });
  const made = await send(keys, { method: 'POST', payload: label });
  const key = `${keys}/${made.json().id}`;
  const change = JSON.stringify({ allowance: 1200 });
  return {
    createKey: await tell(made),
    changeKey: await tell(await send(key, { method: 'PATCH', payload: change })),
    getKey: await tell(await send(key, { method: 'GET' })),
    listKeys: await tell(await send(keys, { method: 'GET' })),
  };
}

/** Asks for what is refused; the code of each answer is its name. */
async function recordProblems(ask: Ask, url: string): Promise<RecordedExamples['problems']> {
  const posts = '/api/v1/posts';
  const post = `${posts}?url=${encodeURIComponent(url)}`;
  const profile = encodeURIComponent(url.replace(/\/status\/.*$/, ''));
  const search = '/api/v1/search';
  const send = (payload: string, type = 'application/json') =>
    ask(keys, { method: 'POST', payload, headers: { ...asOperator, 'content-type': type } });
  const refused = [
    ...[posts, `${posts}?url=nonsense`, `${posts}?url=https://example.com/1`].map((one) =>
      ask(one),
    ),
    ...[`${posts}?url=${profile}`, `${posts}?handle=${handle}`].map((one) => ask(one)),
    ...[`${post}&thread=1`, `${post}&context=none`, `${post}&replies=old`].map((one) => ask(one)),
    ...[`${post}&userinfo=some`, `${post}&format=pdf`].map((one) => ask(one)),
    ...[`${posts}?handle=${handle}&id=1`, `${posts}?handle=jack&id=20`].map((one) => ask(one)),
    ...[search, `${search}?q=heron&feed=old`, `${search}?q=heron&cursor=none`].map((one) =>
      ask(one),
    ),
    ...[`${search}?q=heron&limit=none`, '/api/v1/profiles/a%20b', '/api/browse'].map((one) =>
      ask(one),
    ),
    ...['/api/v1/oembed?format=xml', '/no/route', '/%zz'].map((one) => ask(one)),
    ask(`${search}?q=${'heron'.repeat(2000)}`),
    ask(`${search}?q=heron`, { headers: { authorization: 'Bearer perch_unknown' } }),
    ask(keys),
    send('no JSON'),
    send('<key/>', 'application/xml'),
    send(JSON.stringify({ label: 'a'.repeat(20_000) })),
    ...(await refuseAll(url)),
  ];
  const documents = (await Promise.all(refused)).map((reply) => reply.json());
  return Object.fromEntries(documents.map((one) => [one.code, one] as const));
}

/** Asks servers that refuse a good request: a spent allowance, a busy process, one that stops. */
async function refuseAll(url: string): Promise<readonly Promise<LightMyRequestResponse>[]> {
  const spent = await openSample({ env: { PERCH_PUBLIC_ALLOWANCE: '1' } });
  const busy = await openSample({ load: { isHigh: true, close: () => undefined } });
  const stopping = await openSample();
  stopping.app.startDraining();
  const search = '/api/v1/search?q=heron&nocache=true';
  await spent.ask(search);
  const replies = [
    await spent.ask(search),
    await busy.ask(search),
    await stopping.ask(`/api/v1/posts?url=${encodeURIComponent(url)}`),
  ];
  for (const { app } of [spent, busy, stopping]) await app.server.close();
  return replies.map(async (reply) => reply);
}
