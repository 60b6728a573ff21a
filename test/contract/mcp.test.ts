import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { reads } from '../../src/reads/index.ts';
import { buildTestApp, shareTestApp, type TestApp } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { bearer, callers, expectStatus, openAsCaller, unknownKey } from '../support/key-callers.ts';
import { callTool, eras, post, sendMcp } from '../support/mcp.ts';

const offline = { PERCH_PROVIDERS: 'archive' };
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const build = (env = {}) => buildTestApp({ env: { ...offline, ...env } });

const app = shareTestApp({ env: offline });
describe('the tools', () => {
  clause('read.what.mcp_same_reads')('are the reads with a tool name', async () => {
    const { tools } = (await sendMcp(app, 'legacy', { method: 'tools/list' })).json().result;

    const names = Object.values(reads).flatMap(({ tool }) => tool ?? []);
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(names);
    expect(names).toEqual([
      'get_post',
      'list_replies',
      'get_profile',
      'list_followers',
      'list_following',
      'search',
    ]);
  });

  it('are annotated as read-only and open-world', async () => {
    const { tools } = (await sendMcp(app, 'modern', { method: 'tools/list' })).json().result;

    for (const { annotations } of tools) {
      expect(annotations).toEqual({
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: true,
      });
    }
  });

  it('take the query parameters, and name those that are required', async () => {
    const { tools } = (await sendMcp(app, 'legacy', { method: 'tools/list' })).json().result;

    for (const { name, inputSchema } of tools) {
      const read = Object.values(reads).find(({ tool }) => tool === name);
      expect(Object.keys(inputSchema.properties)).toEqual(Object.keys(read?.params.shape ?? {}));
    }
    const required = tools.map((tool: { inputSchema: object }) => tool.inputSchema);
    expect(required.map(({ required: names }: { required?: string[] }) => names)).toEqual([
      undefined,
      ['id'],
      ['handle'],
      ['handle'],
      ['handle'],
      ['q'],
    ]);
  });

  it('are documented in docs/mcp.md with their arguments', async () => {
    const page = readFileSync('docs/mcp.md', 'utf8');

    const { tools } = (await sendMcp(app, 'legacy', { method: 'tools/list' })).json().result;

    const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (.+?) \|/gm)].map(
      ([, name, expected = '']) => [
        name,
        [...expected.matchAll(/`(\w+)`/g)].map(([, argument]) => argument),
      ],
    );
    expect(rows).toEqual(
      tools.map((tool: { name: string; inputSchema: { properties: object } }) => [
        tool.name,
        Object.keys(tool.inputSchema.properties),
      ]),
    );
  });

  it('are listed on one page, which refuses a cursor', async () => {
    for (const method of [
      'tools/list',
      'resources/list',
      'resources/templates/list',
      'prompts/list',
    ]) {
      const reply = await sendMcp(app, 'legacy', { method, params: { cursor: 'next' } });
      expect(reply.json().error).toMatchObject({
        code: -32602,
        message: expect.stringContaining('cursor'),
      });
    }
  });
});

/** Arguments of each tool, and the URL of the same read, as Markdown. */
const calls = [
  [
    'get_post',
    { handle: 'ada.example', id: '1900000000000000001', thread: 2, full: true },
    '/api/v1/posts?handle=ada.example&id=1900000000000000001&thread=2&full=true',
  ],
  [
    'get_profile',
    { handle: '@ada.example', limit: 3, with_replies: 'true' },
    '/api/v1/profiles/@ada.example?limit=3&with_replies=true',
  ],
  [
    'list_followers',
    { handle: 'ada.example', limit: '2', cursor: null },
    '/api/v1/profiles/ada.example/followers?limit=2',
  ],
  ['list_following', { handle: 'ada.example' }, '/api/v1/profiles/ada.example/following'],
  [
    'list_replies',
    { id: '1900000000000000001', handle: 'ada.example', limit: 2, replies: 'recent' },
    '/api/v1/posts/1900000000000000001/replies?handle=ada.example&limit=2&replies=recent',
  ],
  [
    'search',
    { q: 'heron', platform: 'archive', since: 1_700_000_000, page: 2, limit: 3 },
    '/api/v1/search?q=heron&platform=archive&since=1700000000&page=2&limit=3',
  ],
] as const;

/** Returns the path with the maximum length of a tool's result. */
const bounded = (path: string) => `${path}${path.includes('?') ? '&' : '?'}max_chars=60000`;

describe('a tool call', () => {
  clause('read.what.mcp_same_reads').each(
    eras.flatMap((era) => calls.map((call) => [era, ...call] as const)),
  )('answers with HTTP’s text, %s, %s %j', async (era, name, args, path) => {
    const { statusCode, body } = await app.request(bounded(path));

    const { result } = (await callTool(app, name, { arguments: args, era })).json();

    expect(statusCode).toBe(200);
    expect(result.content).toEqual([{ type: 'text', text: body }]);
    expect(result).not.toHaveProperty('structuredContent');
    expect(result).not.toHaveProperty('isError');
  });

  it.each(eras.flatMap((era) => calls.map((call) => [era, ...call] as const)))(
    'with format json has HTTP’s JSON without its Markdown, %s, %s %j',
    async (era, name, args, path) => {
      const http = await app.request(`${bounded(path)}&format=json`);
      const { markdown, ...expected } = http.json();

      const json = { arguments: { ...args, format: 'json' }, era };
      const { result } = (await callTool(app, name, json)).json();

      expect(markdown).toMatch(/./);
      expect(result.structuredContent).toEqual(expected);
      expect(result.content).toEqual([{ type: 'text', text: JSON.stringify(expected) }]);
      expect(result).not.toHaveProperty('isError');
    },
  );

  it('can have the text of a note', async () => {
    const url = bounded('/api/v1/posts?handle=ada.example&id=1900000000000000001&format=obsidian');
    const args = { handle: 'ada.example', id: '1900000000000000001', format: 'obsidian' };

    const { result } = (await callTool(app, 'get_post', { arguments: args })).json();

    expect(result.content).toEqual([{ type: 'text', text: (await app.request(url)).body }]);
    expect(result.content[0].text).toMatch(/^---\n/);
    expect(result).not.toHaveProperty('structuredContent');
  });

  it('continues a list with the cursor in the link at the end of its text', async () => {
    const list = async (more: object) => {
      const args = { handle: 'ada.example', limit: 3, ...more };
      return (await callTool(app, 'get_profile', { arguments: args })).json().result;
    };

    const [{ text }] = (await list({})).content;
    const [, cursor = ''] = /\[Next page\]\(\S*[?&]cursor=([\w-]+)\S*\)\s*$/.exec(text) ?? [];
    const { structuredContent } = await list({ cursor, format: 'json' });

    expect(structuredContent.page).toBe(2);
    expect(structuredContent.posts).toHaveLength(3);
  });

  it('has up to 60,000 characters by default, and up to max_chars on request', async () => {
    const sizes = [];

    for (const bound of [{}, { max_chars: 9000 }, { max_chars: null }]) {
      const args = { q: 'the', platform: 'archive', limit: 100, format: 'json', ...bound };
      const { result } = (await callTool(app, 'search', { arguments: args })).json();
      sizes.push(result.content[0].text.length);
      expect(result.content[0].text).toMatch(/max_chars=\d+\W+leaves room for \d+ of the/);
    }

    const [usual = 0, small = 0, absent = 0] = sizes;
    expect(usual).toBeLessThanOrEqual(60_000);
    expect(usual).toBeGreaterThan(9000);
    expect(small).toBeLessThanOrEqual(9000);
    expect(absent).toBe(usual);
  });

  it('has the default and the range of max_chars in the schemas of all tools', async () => {
    const reply = await sendMcp(app, 'legacy', { method: 'tools/list' });

    const tools: readonly { inputSchema: { properties: Record<string, unknown> } }[] =
      reply.json().result.tools;
    for (const { inputSchema } of tools) {
      expect(inputSchema.properties.max_chars).toMatchObject({
        ...{ type: 'integer', minimum: 2000, maximum: 400_000, default: 60_000 },
      });
    }
  });

  it.each(eras)(
    'of get_post with the address of an account names the right tool, %s',
    async (era) => {
      const args = { url: 'https://nitter.net/jack/with_replies' };

      const { result } = (await callTool(app, 'get_post', { arguments: args, era })).json();

      expect(result.isError).toBe(true);
      expect(result.structuredContent.code).toBe('invalid_path');
      const { resolution } = result.structuredContent;
      expect(resolution).toContain(
        'the MCP tool `get_profile` with `{"handle":"jack","with_replies":"true"}`',
      );
      expect(result.content[0].text).toContain(resolution);
    },
  );

  it('accepts the arguments that such a resolution names', async () => {
    const args = { url: 'http://localhost:8080/ada.example/with_replies' };

    const refused = (await callTool(app, 'get_post', { arguments: args })).json().result;
    const [, tool = '', named = ''] =
      /tool `(\w+)` with `([^`]+)`/.exec(refused.structuredContent.resolution) ?? [];
    const right = { ...JSON.parse(named), format: 'json' };
    const { result } = (await callTool(app, tool, { arguments: right })).json();

    expect(result.isError).toBeUndefined();
    expect(result.structuredContent).toMatchObject({ resource: 'profile', handle: 'ada.example' });
  });

  it.each(eras)('warns in its text about arguments that it ignores, %s', async (era) => {
    const args = { handle: 'ada.example', limt: 5, __proto__x: 1 };
    const call = async (format: string) =>
      (await callTool(app, 'list_followers', { arguments: { ...args, format }, era })).json()
        .result;

    const [{ text }, ...others] = (await call('markdown')).content;
    const { warnings } = (await call('json')).structuredContent;

    expect(others).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^Ignored: "__proto__x"\. The tool list_followers takes handle, limit, .*format\.$/,
      ),
      'The parameter `limt` does not exist and was ignored; did you mean `limit`?',
    ]);
    for (const fact of ['proto', 'list_followers takes handle, limit', 'did you mean']) {
      expect(text).toContain(fact);
    }
    const plain = await app.request('/api/v1/profiles/ada.example/followers');
    expect(plain.body).not.toContain('Ignored');
  });

  it.each([
    ['search', { q: 'x', feed: 'nope' }, 'invalid_feed', /`feed`.*"nope".*`latest`/],
    ['search', { q: 'x', limit: 0 }, 'invalid_option', /`limit`.*"0".*whole number of 1 or more/],
    ['search', { q: 'x', limit: 1.5 }, 'invalid_option', /`limit`.*"1.5"/],
    ['search', { q: 'x', full: 'maybe' }, 'invalid_option', /`full`.*"maybe".*`true`/],
    ['search', { q: ['x'] }, 'invalid_query', /`q` is a list\. It takes text/],
    ['search', { q: { text: 'x' } }, 'invalid_query', /`q` is an object. It must be text/],
    ['search', {}, 'missing_query', /`q` is missing/],
    ['search', { q: null }, 'missing_query', /`q` is missing/],
    ['list_followers', {}, 'invalid_handle', /`handle` is missing/],
    ['get_profile', { handle: 'no handle' }, 'invalid_handle', /`handle`.*"no handle"/],
    ['get_post', { handle: 'ada.example' }, 'invalid_params', /`id` is missing/],
    [
      'get_post',
      { handle: 'ada.example', id: Number.MAX_SAFE_INTEGER + 1 },
      'invalid_params',
      /`id` is a number. It must be text/,
    ],
    ['search', { q: 2026 }, 'invalid_query', /`q` is a number. It must be text/],
    ['search', { q: true }, 'invalid_query', /`q` is a boolean. It must be text/],
    ['search', { q: 'x', feed: 1 }, 'invalid_feed', /`feed` is a number. It must be `latest`/],
    ['search', { q: 'x', limit: 2 ** 53 }, 'invalid_option', /`limit`.*"9007199254740992"/],
    ['search', { q: 'x', limit: true }, 'invalid_option', /`limit`.*"true"/],
    ['search', { q: 'x', limit: [1] }, 'invalid_option', /`limit` is a list/],
    ['search', { q: 'x', limit: {} }, 'invalid_option', /`limit` is an object/],
    ['get_profile', { handle: 20 }, 'invalid_handle', /`handle` is a number. It must be text/],
    ['list_followers', { handle: 'jack', cursor: 5 }, 'invalid_cursor', /`cursor` is a number/],
    ['get_post', { url: 'https://www.tiktok.com/x' }, 'unsupported_host', /tiktok\.com/],
    ['get_post', { url: 'x', format: 'xml' }, 'invalid_format', /`format`.*"xml"/],
    [
      'get_profile',
      { handle: 'ada.example', format: 'html' },
      'invalid_format',
      /“html”.*`markdown` or `json`/,
    ],
    ['search', { q: 'x', format: 'atom' }, 'invalid_format', /“atom”.*`markdown` or `json`/],
  ])('names the invalid argument: %s %j', async (name, args, code, detail) => {
    const { result } = (await callTool(app, name, { arguments: args })).json();

    expect(result.isError).toBe(true);
    expect(result.structuredContent).toMatchObject({ code, detail: expect.stringMatching(detail) });
    expect(result.content[0].text).toMatch(detail);
  });

  it.each(eras)('of an unknown tool names the existing ones, %s', async (era) => {
    const { error } = (await callTool(app, 'convert', { era })).json();

    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/"convert".*get_post/),
    });
  });

  it.each(eras)('with arguments that are not an object is refused, %s', async (era) => {
    const params = { name: 'search', arguments: 'heron' };

    const reply = await sendMcp(app, era, { method: 'tools/call', params });

    expect(reply.json().error.code).toBe(-32602);
  });

  it.each(eras)('for a missing post returns a result with a resolution, %s', async (era) => {
    const args = { handle: 'nobody.example' };

    const { result } = (await callTool(app, 'get_profile', { arguments: args, era })).json();

    const problem = (await app.request('/api/v1/profiles/nobody.example')).json();
    const { instance: _where, ...expected } = problem;
    expect(result).toMatchObject({ isError: true, structuredContent: expected });
    for (const word of [expected.code, expected.detail, expected.resolution]) {
      expect(result.content[0].text).toContain(word);
    }
  });
});

describe('the resources', () => {
  it.each(eras)(
    'are the OpenAPI description and the pages, under their own URLs, %s',
    async (era) => {
      const app = await build({ PERCH_BASE_URL: 'https://perch.example.org' });

      const { resources } = (await sendMcp(app, era, { method: 'resources/list' })).json().result;

      const uris: string[] = resources.map(({ uri }: { uri: string }) => uri);
      expect(uris).toContain('https://perch.example.org/openapi.json');
      expect(uris).toContain('https://perch.example.org/docs/mcp');
      expect(resources.every(({ title }: { title: string }) => title.length > 2)).toBe(true);
    },
  );

  it.each(eras)('have the same content as over HTTP, %s', async (era) => {
    const uri = 'http://localhost:8080/openapi.json';

    const { contents } = (
      await sendMcp(app, era, { method: 'resources/read', params: { uri } })
    ).json().result;

    const { body } = await app.request('/openapi.json');
    expect(contents).toEqual([{ uri, mimeType: 'application/json', text: body }]);
  });

  it('can all be read', async () => {
    const { resources } = (await sendMcp(app, 'legacy', { method: 'resources/list' })).json()
      .result;

    for (const { uri, mimeType } of resources) {
      const { contents } = (
        await sendMcp(app, 'legacy', { method: 'resources/read', params: { uri } })
      ).json().result;
      expect(contents).toEqual([{ uri, mimeType, text: expect.stringMatching(/^[#{]/) }]);
    }
  });

  it.each([
    'http://localhost:8080/docs/nope',
    'file:///etc/passwd',
    'http://localhost:8080/docs/../../etc/passwd',
    'nonsense',
  ])('do not include %s', async (uri) => {
    const reply = await sendMcp(app, 'legacy', { method: 'resources/read', params: { uri } });

    expect(reply.json().error.code).toBeLessThan(-32000);
  });
});

describe('an API key at /mcp', () => {
  for (const status of callers) {
    clause('read.auth.key_affects_mcp')(`has its status on every reply: ${status}`, async () => {
      const { app, headers } = await openAsCaller(status, { env: offline });

      const replies = [
        await post(app, ping, headers),
        await post(app, '{', headers),
        await callTool(app, 'get_profile', { arguments: { handle: 'ada.example' }, headers }),
        await app.request('/mcp', { headers }),
        await app.request('/mcp', { method: 'DELETE', headers }),
        await post(app, ping, { ...headers, origin: 'https://elsewhere.example' }),
        await post(app, ping, { ...headers, 'content-type': 'text/plain' }),
      ];

      for (const reply of replies) {
        expectStatus(reply, status);
        expect(reply.headers['cache-control']).toMatch(/no-store$/);
        expect(reply.headers.ratelimit).toBeDefined();
      }
    });
  }

  clause('read.auth.key_affects_mcp')('is refused with a problem if it is unknown', async () => {
    const app = await build();

    const reply = await post(app, ping, bearer(unknownKey));

    expect(reply.statusCode).toBe(401);
    expect(reply.json()).toMatchObject({ code: 'invalid_key', instance: '/mcp' });
    expect(reply.headers['www-authenticate']).toBeUndefined();
  });

  clause('read.auth.key_affects_mcp')('has an allowance of its own', async () => {
    const app = await build({ PERCH_PUBLIC_ALLOWANCE: '1' });
    const { headers } = await app.createKey({ allowance: 2 });
    const read = (handle: string) =>
      callTool(app, 'get_profile', { arguments: { handle }, headers });

    const remaining = [];
    for (const handle of ['ada.example', 'brio.example', 'ada.example']) {
      remaining.push((await read(handle)).headers.ratelimit);
    }

    expect(remaining).toEqual(['"key";r=1;t=60', '"key";r=0;t=60', '"key";r=0;t=60']);
  });
});

describe('the allowance', () => {
  const ada = { arguments: { handle: 'ada.example' } };

  it('is charged one unit for each call that is not answered from the cache', async () => {
    const app = await build();
    const post1 = { arguments: { handle: 'ada.example', id: '1900000000000000001' } };

    const replies = [
      await post(app, ping),
      await sendMcp(app, 'modern', { method: 'tools/list' }),
      await callTool(app, 'get_profile', ada),
      await callTool(app, 'get_profile', ada),
      await app.request('/api/v1/profiles/ada.example'),
      await callTool(app, 'get_post', post1),
      await callTool(app, 'search', { arguments: { q: '' } }),
      await callTool(app, 'get_profile', { arguments: { handle: 'nobody.example' } }),
    ];

    const remaining = replies.map(({ headers }) => /r=(\d+)/.exec(String(headers.ratelimit))?.[1]);
    expect(remaining).toEqual(['60', '60', '59', '59', '59', '58', '58', '57']);
  });

  it.each(eras)('refuses further calls with a result once it is used up, %s', async (era) => {
    const app = await build({ PERCH_PUBLIC_ALLOWANCE: '1' });
    await callTool(app, 'get_profile', { ...ada, era });
    await app.advance(20_000);

    const other = { arguments: { handle: 'brio.example' }, era };
    const { result } = (await callTool(app, 'get_profile', other)).json();
    const hit = (await callTool(app, 'get_profile', { ...ada, era })).json();

    expect(result).toMatchObject({
      isError: true,
      structuredContent: { code: 'rate_limited', status: 429, retry_after: 40 },
    });
    expect(result.content[0].text).toMatch(/^retry_after: 40$/m);
    expect(hit.result.isError).toBeUndefined();
  });

  it('counts every call of a batch', async () => {
    const app = await build({ PERCH_PUBLIC_ALLOWANCE: '2' });
    const handles = ['ada.example', 'brio.example', 'cato.example', 'dido.example'];
    const batch = handles.map((handle, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'get_profile', arguments: { handle } },
    }));

    const answers = (await post(app, batch)).json();

    const limited = answers.filter(
      ({ result }: { result: { structuredContent?: { code?: string } } }) =>
        result.structuredContent?.code === 'rate_limited',
    );
    expect(answers).toHaveLength(4);
    expect(limited).toHaveLength(2);
  });
});

const preflight = (origin: string) => ({
  origin,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,mcp-protocol-version',
});

describe('methods and bodies', () => {
  clause('read.discovery.mcp_any_method').each([
    'GET',
    'DELETE',
    'HEAD',
    'PUT',
    'PATCH',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
  ])('answers %s as a server without sessions', async (method) => {
    const reply = await app.request('/mcp', { method, headers: { accept: 'text/event-stream' } });

    expect(reply.statusCode).toBe(405);
    expect(reply.headers.allow).toBe('POST');
    if (method !== 'HEAD') expect(reply.json().detail).toMatch(/POST/);
  });

  clause('read.discovery.mcp_any_method')('answers a POST according to the protocol', async () => {
    expect((await post(app, ping)).json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it.each(['2025-03-26', '2025-06-18', '2025-11-25'])(
    'completes the handshake in revision %s',
    async (protocolVersion) => {
      const clientInfo = { name: 'test', version: '1' };

      const params = { protocolVersion, capabilities: {}, clientInfo };
      const { result } = (await sendMcp(app, 'legacy', { method: 'initialize', params })).json();

      expect(result).toMatchObject({
        protocolVersion,
        serverInfo: { name: 'perch' },
        capabilities: { tools: {}, resources: {} },
      });
    },
  );

  it('announces the revision without a handshake', async () => {
    const { result } = (await sendMcp(app, 'modern', { method: 'server/discover' })).json();

    expect(result.supportedVersions).toEqual(['2026-07-28']);
  });

  it.each([
    ...['{', '', 'nonsense', '{"jsonrpc":"2.0",'].map((body) => {
      return { body, told: { id: null, error: { code: -32700 } } };
    }),
    ...[null, [], 7, {}, { ...ping, jsonrpc: '1.0' }, { ...ping, id: {} }].map((body) => {
      return { body, told: { error: { code: -32600 } } };
    }),
  ])('refuses $body, which is not a message', async ({ body, told }) => {
    const reply = await post(app, body);

    expect(reply.statusCode).toBe(400);
    expect(reply.json()).toMatchObject({ jsonrpc: '2.0', ...told });
  });

  it.each([
    ['legacy', 200],
    ['modern', 404],
  ] as const)('refuses an unknown method, %s', async (era, status) => {
    const reply = await sendMcp(app, era, { method: 'tools/destroy' });

    expect(reply.statusCode).toBe(status);
    expect(reply.json().error.code).toBe(-32601);
  });

  it('accepts notifications without a response', async () => {
    const reply = await post(app, { jsonrpc: '2.0', method: 'notifications/initialized' });

    expect(reply.statusCode).toBe(202);
    expect(reply.body).toBe('');
  });

  it('answers a batch of the first revision, even if it cancels its own call', async () => {
    const params = { name: 'get_profile', arguments: { handle: 'ada.example' } };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } };

    const reply = await post(app, [ping, { ...ping, id: 2, method: 'tools/call', params }, cancel]);

    expect(reply.json().map(({ id }: { id: number }) => id)).toEqual([1, 2]);
  });

  it.each(['2025-06-18', '2025-11-25', '2026-07-28'])(
    'refuses a batch in revision %s',
    async (revision) => {
      const reply = await post(app, [ping], { 'mcp-protocol-version': revision });

      expect(reply.statusCode).toBe(400);
      expect(reply.json().error).toMatchObject({ code: -32600 });
    },
  );

  it('refuses a batch of more than ten messages', async () => {
    const batchOf = (length: number) => Array.from({ length }, (_, id) => ({ ...ping, id }));

    const [allowed, refused] = [await post(app, batchOf(10)), await post(app, batchOf(11))];

    expect(allowed.json()).toHaveLength(10);
    expect(refused.statusCode).toBe(400);
    expect(refused.json().error).toMatchObject({
      code: -32600,
      message: expect.stringContaining('10'),
    });
  });

  it('refuses a body over its limit, and accepts one just below it', async () => {
    const padded = (bytes: number) => JSON.stringify(ping).padEnd(bytes);

    const large = await post(app, padded(65_537));
    const allowed = await post(app, padded(65_536));

    expect(large.json().code).toBe('payload_too_large');
    expect(allowed.statusCode).toBe(200);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'multipart/form-data',
  ])('refuses a body of type %s', async (type) => {
    const reply = await post(app, ping, { 'content-type': type });

    expect(reply.json().code).toBe('unsupported_media_type');
  });

  it('refuses new calls while the process drains', async () => {
    const app = await build();
    app.startDraining();

    const reply = await post(app, ping);

    expect(reply.json().code).toBe('shutting_down');
    expect(reply.headers['x-api-key-status']).toBe('anonymous');
  });

  it('sheds calls under high load', async () => {
    const load = { isHigh: true, close: () => undefined };
    const app = await buildTestApp({ env: offline, load });

    const reply = await post(app, ping);

    expect(reply.json().code).toBe('overloaded');
  });
});

const origins = {
  base: 'https://perch.example.org',
  listed: 'https://app.example.org',
  local: 'http://localhost:6274',
  other: 'https://elsewhere.example',
};

function buildPublic(env: Record<string, string> = {}): Promise<TestApp> {
  return build({
    PERCH_BASE_URL: origins.base,
    HOST: '0.0.0.0',
    PERCH_MCP_ORIGINS: origins.listed,
    ...env,
  });
}

describe('web origins', () => {
  it.each([
    undefined,
    origins.base,
    origins.listed,
    origins.local,
    'http://127.0.0.1:3000',
    'https://localhost',
    'http://[::1]:8080',
  ])('allows %s, and lets it read the reply', async (origin) => {
    const app = await buildPublic();

    const reply = await post(app, ping, origin === undefined ? {} : { origin });

    expect(reply.statusCode).toBe(200);
    expect(reply.headers['access-control-allow-origin']).toBe(origin);
    expect(reply.headers.vary).toContain('Origin');
  });

  it.each([
    origins.other,
    'null',
    'http://perch.example.org',
    'https://perch.example.org:8443',
    'https://app.example.org.evil.example',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://localhost@evil.example',
    'file://localhost',
    'nonsense',
    '',
  ])('refuses %j', async (origin) => {
    const app = await buildPublic();

    const replies = [
      await post(app, ping, { origin }),
      await app.request('/mcp', { headers: { origin } }),
      await app.request('/mcp', { method: 'OPTIONS', headers: preflight(origin) }),
    ];

    for (const reply of replies) {
      expect(reply.json().code).toBe('origin_not_allowed');
      expect(reply.headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  it('allows any origin if the operator configures it', async () => {
    const app = await buildPublic({ PERCH_MCP_ORIGINS: '*' });

    const reply = await post(app, ping, { origin: origins.other });

    expect(reply.statusCode).toBe(200);
    expect(reply.headers['access-control-allow-origin']).toBe('*');
  });

  it('answers preflight requests of allowed origins', async () => {
    const app = await buildPublic();

    const reply = await app.request('/mcp', {
      method: 'OPTIONS',
      headers: preflight(origins.listed),
    });

    expect(reply.statusCode).toBe(204);
    expect(reply.headers).toMatchObject({
      'access-control-allow-origin': origins.listed,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization,mcp-protocol-version',
      'access-control-max-age': '86400',
    });
    expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('lists the readable headers for pages, even on an error', async () => {
    const app = await buildPublic();

    const reply = await post(app, '{', { origin: origins.listed });

    expect(reply.headers['access-control-allow-origin']).toBe(origins.listed);
    expect(reply.headers['access-control-expose-headers']).toContain('X-Api-Key-Status');
  });
});

describe('host names', () => {
  it.each(['evil.example', 'evil.example:8080', 'localhost.evil.example', '192.168.0.7', 'a b'])(
    'refuses %s while listening on loopback, even if any origin is allowed',
    async (host) => {
      const app = await buildPublic({ HOST: 'localhost', PERCH_MCP_ORIGINS: '*' });

      const reply = await post(app, ping, { host });

      expect(reply.json().code).toBe('origin_not_allowed');
    },
  );
});
