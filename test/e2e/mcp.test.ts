import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { noLoadLimit } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { answerText, hang } from '../support/fake-upstream.ts';
import { bearer, unknownKey } from '../support/key-callers.ts';
import { listen, upstream } from '../support/listen.ts';
import { eras, toMessage } from '../support/mcp.ts';
import { clients, type StdioServer, type TestClient } from '../support/mcp-clients.ts';
import { linesOf, runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

/** High limits, so that a busy machine sheds no request. */
const offline = { ...noLoadLimit, PERCH_PROVIDERS: 'archive' };
const named = Object.entries(clients);

/** A call of each tool, and the same read over HTTP. */
const calls = {
  get_post: [
    { handle: 'ada.example', id: '1900000000000000001' },
    '/ada.example/status/1900000000000000001',
  ],
  list_replies: [
    { id: '1900000000000000001', handle: 'ada.example', limit: 2 },
    '/api/v1/posts/1900000000000000001/replies?handle=ada.example&limit=2',
  ],
  get_profile: [
    { handle: 'ada.example', limit: 3, with_replies: true },
    '/ada.example?limit=3&with_replies=true',
  ],
  list_followers: [{ handle: 'ada.example' }, '/ada.example/followers'],
  list_following: [{ handle: 'ada.example', full: true }, '/ada.example/following?full=true'],
  search: [{ q: 'heron', platform: 'archive' }, '/search?q=heron&platform=archive'],
} as const;

/** Returns the path with the maximum length of a tool's result. */
const bounded = (path: string) => `${path}${path.includes('?') ? '&' : '?'}max_chars=60000`;

async function callChecked(client: TestClient, name: string, args: Record<string, unknown>) {
  const result = await client.call(name, args);
  expect(result.content).toEqual([{ type: 'text', text: expect.stringMatching(/./) }]);
  const isStructured = args.format === 'json' || result.isError === true;
  expect(result.structuredContent !== undefined).toBe(isStructured);
  return result;
}

describe.each(named)('%s over HTTP', (_name, connect) => {
  it('lists every tool, without output schemas, every resource and no prompts', async () => {
    const { url } = await listen(offline);

    const client = await connect({ url: `${url}/mcp` });

    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(Object.keys(calls));
    expect(tools.filter((tool) => 'outputSchema' in tool)).toEqual([]);
    expect(await client.listPrompts()).toEqual([]);
    expect(client.serverName).toBe('perch');
    expect(await client.readText('http://localhost:8080/openapi.json')).toMatch(
      /^\{"openapi":"3\.1/,
    );
    expect((await client.listResources()).length).toBeGreaterThan(10);
  });

  clause('read.what.mcp_same_reads').each(Object.entries(calls))(
    'gets from %s what HTTP gives',
    async (name, [args, path]) => {
      const { url } = await listen(offline);
      const client = await connect({ url: `${url}/mcp` });

      const result = await callChecked(client, name, args);
      const inJson = await callChecked(client, name, { ...args, format: 'json' });

      const text = await (await fetch(`${url}${bounded(path)}`)).text();
      const headers = { accept: 'application/json' };
      const body = await (await fetch(`${url}${bounded(path)}`, { headers })).text();
      const { markdown, ...json } = JSON.parse(body);
      expect(result.isError ?? false).toBe(false);
      expect(result.content[0]?.text).toBe(text);
      expect(markdown).toBe(text);
      expect(inJson.structuredContent).toEqual(json);
      expect(JSON.parse(inJson.content[0]?.text ?? '')).toEqual(json);
    },
  );

  it.each([
    ['a missing post', 'get_post', { handle: 'ada.example', id: '7' }, 'not_found', /sample/],
    ['an invalid argument', 'search', { q: 'x', feed: 'new' }, 'invalid_feed', /"new".*`latest`/],
  ])('gets an error result for %s', async (_, name, args, code, words) => {
    const { url } = await listen(offline);
    const client = await connect({ url: `${url}/mcp` });

    const result = await callChecked(client, name, args);

    expect(result).toMatchObject({ isError: true, structuredContent: { code } });
    expect(result.content[0]?.text).toMatch(words);
  });

  it('gets an error result with the wait once the allowance is used up', async () => {
    const { url } = await listen({ ...offline, PERCH_PUBLIC_ALLOWANCE: '1' });
    const client = await connect({ url: `${url}/mcp` });
    await callChecked(client, 'get_profile', { handle: 'ada.example' });

    const result = await callChecked(client, 'get_profile', { handle: 'brio.example' });

    expect(result).toMatchObject({
      isError: true,
      structuredContent: { code: 'rate_limited', retry_after: expect.any(Number) },
    });
  });

  it('gets an error result for an unavailable upstream', async () => {
    const down = await upstream((_request, response) =>
      answerText(response, { type: 'text/plain', text: 'no' }, { status: 500 }),
    );
    const env = { ...noLoadLimit, PERCH_FXTWITTER_URL: down.url, PERCH_SYNDICATION_URL: down.url };
    const { url } = await listen(env);
    const client = await connect({ url: `${url}/mcp` });

    const result = await callChecked(client, 'get_post', { url: 'https://x.com/jack/status/20' });

    expect(result.isError).toBe(true);
    expect(result.structuredContent).toMatchObject({
      code: 'upstream_unavailable',
      retry_after: 30,
      resolution: expect.any(String),
    });
    expect(result.content[0]?.text).toMatch(/upstream_unavailable.*retry_after: 30/s);
  });

  it('has the allowance of its key, and is refused with an unknown key', async () => {
    const { app, url } = await listen({ ...offline, PERCH_PUBLIC_ALLOWANCE: '1' });
    const { headers } = await app.createKey();
    const client = await connect({ url: `${url}/mcp`, headers: { ...headers } });

    const results = [];
    for (const handle of ['ada.example', 'brio.example', 'cato.example']) {
      results.push(await client.call('list_followers', { handle }));
    }

    expect(results.map(({ structuredContent }) => structuredContent?.code)).not.toContain(
      'rate_limited',
    );
    await expect(connect({ url: `${url}/mcp`, headers: bearer(unknownKey) })).rejects.toThrow(
      /401|invalid_key/,
    );
  });
});

describe('a caller over HTTP', () => {
  it.each(eras)('cancels its read by disconnecting, %s', async (era) => {
    const open = { now: 0 };
    const slow = await upstream((_request, response) => {
      open.now += 1;
      response.on('close', () => {
        open.now -= 1;
      });
    });
    const { app, url } = await listen({
      ...noLoadLimit,
      PERCH_FXTWITTER_URL: slow.url,
      PERCH_SYNDICATION_URL: slow.url,
    });
    const params = { name: 'get_post', arguments: { url: 'https://x.com/jack/status/20' } };
    const { body, headers } = toMessage(era, { method: 'tools/call', params });
    const leaving = new AbortController();
    const left = fetch(`${url}/mcp`, {
      method: 'POST',
      headers,
      body,
      signal: leaving.signal,
    }).catch(() => 'left');
    await expect.poll(() => open.now).toBeGreaterThan(0);

    leaving.abort();

    expect(await left).toBe('left');
    await expect.poll(() => [open.now, app.inFlight]).toEqual([0, 0]);
  });

  it('gets an error result if the server stops during its call', async () => {
    const slow = await upstream(hang);
    const { app, url } = await listen({
      ...noLoadLimit,
      PERCH_FXTWITTER_URL: slow.url,
      PERCH_SYNDICATION_URL: slow.url,
    });
    const params = { name: 'get_post', arguments: { url: 'https://x.com/jack/status/20' } };
    const { body, headers } = toMessage('legacy', { method: 'tools/call', params });
    const called = fetch(`${url}/mcp`, { method: 'POST', headers, body });
    await expect.poll(() => slow.requests.length).toBeGreaterThan(0);

    app.cutOff();

    expect(await (await called).json()).toMatchObject({
      result: { isError: true, structuredContent: { code: 'shutting_down', retry_after: 1 } },
    });
  });

  it('is disconnected from a subscription when the server closes', async () => {
    const { app, url } = await listen(offline);
    const params = { notifications: { toolsListChanged: true } };
    const { body, headers } = toMessage('modern', { method: 'subscriptions/listen', params });
    const reply = await fetch(`${url}/mcp`, { method: 'POST', headers, body });
    const text = reply.text();

    await app.server.close();

    expect(reply.headers.get('content-type')).toBe('text/event-stream');
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(await text).toMatch(/^event: message\ndata: \{.*subscriptions\/acknowledged/);
  });
});

/** The command as a client starts it. */
function perchMcp(env: Record<string, string> = {}): StdioServer {
  const folder = temporaryFolder();
  return {
    command: process.execPath,
    args: [inject('perchMain'), 'mcp'],
    env: { PATH: process.env.PATH ?? '', PERCH_DATA_DIR: `${folder}/data`, ...offline, ...env },
    cwd: folder,
  };
}

describe.each(named)('%s over standard input and output', (_name, connect) => {
  it('lists and calls every tool, and reads a resource', async () => {
    const keyed = { ...offline, PERCH_CURSOR_KEY: 'a key of cursors that both of them have' };
    const { url } = await listen(keyed);

    const client = await connect(perchMcp(keyed));

    expect((await client.listTools()).map(({ name }) => name)).toEqual(Object.keys(calls));
    for (const [name, [args, path]] of Object.entries(calls)) {
      const result = await callChecked(client, name, args);
      expect(result.content[0]?.text).toBe(await (await fetch(`${url}${bounded(path)}`)).text());
    }
    const empty = { handle: 'nobody.example', until: '', cursor: null, page: null };
    const missing = await callChecked(client, 'get_profile', empty);
    expect(missing).toMatchObject({ isError: true, structuredContent: { code: 'not_found' } });
    expect(await client.readText('http://localhost:8080/docs/keys')).toMatch(/^# Keys/);
  });
});

const handshake = {
  jsonrpc: '2.0',
  id: 'hello',
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 't', version: '1' },
  },
};

describe('perch mcp', () => {
  it('answers all requests when its input ends, and exits with 0', {
    timeout: 60_000,
  }, async () => {
    const call = { name: 'get_profile', arguments: { handle: 'ada.example' } };
    const asked = [
      handshake,
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 'call', method: 'tools/call', params: call },
    ];
    const perch = spawnMcp();

    perch.stdin.end(toLines(asked));

    const { code, stdout } = await perch.ended;
    expect(code).toBe(0);
    expect(linesOf(stdout).map(({ jsonrpc, id }) => [jsonrpc, id])).toEqual([
      ['2.0', 'hello'],
      ['2.0', 'call'],
    ]);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'exits with 0 on %s, even during a call',
    async (signal) => {
      const slow = await upstream(hang);
      const perch = spawnMcp({ PERCH_PROVIDERS: 'fxtwitter', PERCH_FXTWITTER_URL: slow.url });
      const call = { name: 'get_post', arguments: { url: 'https://x.com/jack/status/20' } };
      perch.stdin.write(`${JSON.stringify(handshake)}\n`);
      perch.stdin.write(
        `${JSON.stringify({ ...handshake, id: 2, method: 'tools/call', params: call })}\n`,
      );
      await expect.poll(() => slow.requests.length).toBeGreaterThan(0);

      perch.kill(signal);

      const { code, stdout } = await perch.ended;
      expect(code).toBe(0);
      expect(stdout.split('\n')).toHaveLength(2);
    },
  );

  it('ignores invalid messages, and continues', async () => {
    const { code, stdout } = await mcpHere(`nonsense\n\n{}\n${JSON.stringify(handshake)}\n`);

    expect(code).toBe(0);
    expect(linesOf(stdout).map(({ id }) => id)).toEqual(['hello']);
  });

  it.each([null, undefined])('takes params: %j and arguments: null for none', async (params) => {
    const call = { name: 'search', arguments: null };

    const { stdout } = await mcpHere(
      toLines([
        handshake,
        { jsonrpc: '2.0', id: 'prompts', method: 'prompts/list', params },
        { jsonrpc: '2.0', id: 'call', method: 'tools/call', params: call },
      ]),
    );

    const [, prompts, called] = linesOf(stdout);
    expect(prompts.result).toEqual({ prompts: [] });
    expect(called.result).toMatchObject({
      isError: true,
      structuredContent: { code: 'missing_query' },
    });
  });

  it('lists the known revisions to a client of another one', async () => {
    const { body } = toMessage('modern', { method: 'tools/list' });

    const { stdout } = await mcpHere(`${body.replace('2026-07-28', '2033-03-03')}\n${body}\n`);

    const [refusal, list] = linesOf(stdout);
    expect(refusal).toMatchObject({ id: 1, error: { code: -32022 } });
    expect(refusal.error.message).toMatch(/2033-03-03.*2026-07-28, 2025-11-25/);
    expect(list.result.tools).toHaveLength(6);
  });

  it('reads messages that arrive in pieces, and more than one at once', async () => {
    const text = toLines(
      [1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'ping', params: { a: '—' } })),
    );
    const bytes = Buffer.from(text);
    const perch = spawnMcp();

    for (const byte of bytes.subarray(0, 100)) perch.stdin.write(Buffer.of(byte));
    perch.stdin.end(bytes.subarray(100));

    const answers = linesOf((await perch.ended).stdout);
    expect(answers.map(({ id, result }) => [id, result])).toEqual([
      [1, {}],
      [2, {}],
      [3, {}],
    ]);
  });

  it('ends at a message that is longer than its limit', async () => {
    const perch = spawnMcp();

    perch.stdin.on('error', () => undefined).write('x'.repeat(11_000_000));

    expect(await perch.ended).toEqual({ code: 0, stdout: '' });
  });

  it('takes no arguments, and prints its help', async () => {
    const [wrong, help] = [await runHere(['mcp', 'now'], {}), await runHere(['mcp', '--help'], {})];

    expect(wrong).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('now'),
    });
    expect(help).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Usage: perch mcp/),
    });
  });
});

const toLines = (messages: readonly object[]) =>
  messages.map((message) => `${JSON.stringify(message)}\n`).join('');

const mcpHere = (stdin: string) =>
  runHere(['mcp'], { ...offline, PERCH_DATA_DIR: ':memory:' }, { stdin });

interface McpProcess {
  readonly stdin: Writable;
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string }>;
  kill(signal: NodeJS.Signals): void;
}

function spawnMcp(env: Record<string, string> = {}): McpProcess {
  const { command, args, ...options } = perchMcp(env);
  const child = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const ended = new Promise<{ code: number | null; stdout: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, stdout }));
  });
  return { stdin: child.stdin, ended, kill: (signal) => void child.kill(signal) };
}
