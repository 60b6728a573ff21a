import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import { createTools } from '../../src/routes/mcp/server.ts';
import { shareTestApp, type TestClient } from '../support/build-app.ts';
import { callTool, eras, post, sendMcp, toMessage } from '../support/mcp.ts';

const app = shareTestApp({ env: { PERCH_PROVIDERS: 'archive' } });
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

/** Returns the JSON-RPC message of a response, which is JSON or an event stream with one event. */
function messageIn({ headers, body }: LightMyRequestResponse) {
  if (headers['content-type'] !== 'text/event-stream') return JSON.parse(body);
  const [, text = ''] = /^event: message\ndata: (.*)\n\n$/.exec(body) ?? [];
  return JSON.parse(text);
}

/** Sends `tools/list` with a value of `Accept`, or without the header if it is `undefined`. */
function listTools(app: TestClient, era: (typeof eras)[number], accept: string | undefined) {
  const { body, headers } = toMessage(era, { method: 'tools/list' });
  const { accept: _usual, ...others } = headers;
  const sent = accept === undefined ? others : { ...others, accept };
  return app.request('/mcp', { method: 'POST', headers: sent, payload: body });
}

const json = 'application/json; charset=utf-8';
const stream = 'text/event-stream';

it.each([
  [undefined, json],
  ['', json],
  ['*/*', json],
  ['*/*;q=0.1', json],
  ['application/*', json],
  ['application/json', json],
  ['Application/JSON; charset=utf-8', json],
  ['application/json;q=0.3, text/plain', json],
  ['text/event-stream, application/json', json],
  ['text/event-stream;q=0.5,application/json;q=0.1', json],
  ['text/event-stream, */*', json],
  ['text/html', json],
  ['text/event-stream;q=0, application/xml', json],
  [`${'text/a,'.repeat(2000)}text/event-stream`, json],
  ['text/event-stream', stream],
  ['TEXT/EVENT-STREAM;q=0.9', stream],
  ['text/event-stream, text/plain', stream],
  ['application/json; q=0.0, text/event-stream', stream],
])('the header Accept %j is answered', async (accept, type) => {
  for (const era of eras) {
    const reply = await listTools(app, era, accept);
    expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, type]);
    expect(messageIn(reply).result.tools).toHaveLength(createTools().size);
  }
});

it('answers a refusal in JSON to a client that accepts only event streams', async () => {
  const reply = await post(app, '{', { accept: 'text/event-stream' });

  expect(reply.statusCode).toBe(400);
  expect(reply.json().error.code).toBe(-32700);
});

it('accepts a notification of a client that accepts only event streams', async () => {
  const message = { jsonrpc: '2.0', method: 'notifications/initialized' };

  const reply = await post(app, message, { accept: 'text/event-stream' });

  expect([reply.statusCode, reply.body]).toEqual([202, '']);
});

/** Valid values of the arguments without which a call of each tool fails. */
const needed: Readonly<Record<string, Record<string, string>>> = {
  get_post: { handle: 'ada.example', id: '1900000000000000001' },
  list_replies: { id: '1900000000000000001', handle: 'ada.example' },
  get_profile: { handle: 'ada.example' },
  list_followers: { handle: 'ada.example' },
  list_following: { handle: 'ada.example' },
  search: { q: 'tide' },
};
const tools = [...createTools().values()].map(({ definition }) => definition);

/** Values that count as absent, in both eras. */
const omissions = eras.flatMap((era) => ['', null].map((absent) => ({ era, absent })));

describe('an argument that is null or empty', () => {
  it.each(tools)('has the effect of no argument: $name', async ({ name, inputSchema }) => {
    const given = needed[name] ?? {};
    const others = Object.keys(inputSchema.properties).filter((one) => !(one in given));
    const plain = (await callTool(app, name, { arguments: given })).json().result;

    for (const { era, absent } of omissions) {
      const args = { ...Object.fromEntries(others.map((one) => [one, absent])), ...given };
      const { result } = (await callTool(app, name, { arguments: args, era })).json();
      expect(result.content).toEqual(plain.content);
      expect(result).not.toHaveProperty('isError');
    }
    expect(others.length).toBeGreaterThan(5);
  });

  it.each([
    ['list_replies', 'id'],
    ['get_profile', 'handle'],
    ['list_followers', 'handle'],
    ['list_following', 'handle'],
    ['search', 'q'],
  ])('is named in the error if it is required: %s, %s', async (name, argument) => {
    for (const { era, absent } of omissions) {
      const args = { limit: 5, [argument]: absent };
      const { result } = (await callTool(app, name, { arguments: args, era })).json();
      expect(result.isError).toBe(true);
      expect(result.structuredContent.detail).toContain(`\`${argument}\` is missing`);
      expect(result.content[0].text).toContain(`\`${argument}\` is missing`);
    }
  });

  it('is ignored without a warning if no tool has it', async () => {
    for (const { era, absent } of omissions) {
      const args = { q: 'tide', platform: 'sample', colour: absent, format: 'json' };
      const { result } = (await callTool(app, 'search', { arguments: args, era })).json();
      expect(result.structuredContent.warnings).toEqual([]);
    }
  });
});

describe.each(eras)('values of absent members, %s', (era) => {
  it.each([null, undefined])('takes arguments: %j for no arguments', async (given) => {
    const params = { name: 'list_following', arguments: given };

    const { result } = (await sendMcp(app, era, { method: 'tools/call', params })).json();

    expect(result.isError).toBe(true);
    expect(result.structuredContent).toMatchObject({
      code: 'invalid_handle',
      detail: expect.stringContaining('`handle` is missing'),
    });
  });

  it.each([
    ['tools/list', 'tools'],
    ['resources/list', 'resources'],
    ['resources/templates/list', 'resourceTemplates'],
    ['prompts/list', 'prompts'],
  ])('takes the cursor null or "" of %s for none', async (method, member) => {
    for (const cursor of [null, '']) {
      const { result } = (await sendMcp(app, era, { method, params: { cursor } })).json();
      expect(result[member]).toEqual(expect.any(Array));
    }
  });

  it('lists no prompts, and has none', async () => {
    const list = await sendMcp(app, era, { method: 'prompts/list' });
    const one = await sendMcp(app, era, { method: 'prompts/get', params: { name: 'summary' } });

    expect(list.json().result.prompts).toEqual([]);
    expect(one.json().error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('"summary"'),
    });
  });
});

it.each(['tools/list', 'prompts/list', 'resources/list', 'ping'])(
  'takes params: null of %s for none',
  async (method) => {
    const reply = await post(app, { jsonrpc: '2.0', id: 7, method, params: null });

    expect(reply.json()).toMatchObject({ id: 7, result: {} });
  },
);

it('takes null for absent in each message of a batch', async () => {
  const params = { name: 'search', arguments: null };

  const replies = await post(app, [
    { ...ping, params: null },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params },
  ]);

  const [pong, { result }] = replies.json();
  expect(pong.result).toEqual({});
  expect(result.structuredContent.code).toBe('missing_query');
});

it.each([
  ['full', 'full'],
  ['off', 'off'],
  [3, '3'],
  ['3', '3'],
])('takes thread: %j', async (thread, inQuery) => {
  const args = { handle: 'ada.example', id: '1900000000000000001', thread };

  const { result } = (await callTool(app, 'get_post', { arguments: args })).json();

  const url = `/api/v1/posts?handle=ada.example&id=1900000000000000001&thread=${inQuery}`;
  expect(result.content[0].text).toBe((await app.request(url)).body);
  expect(result.isError).toBeUndefined();
});

it.each([1_776_500_000, '1776500000', '2026-04-18', '2026-04-18T08:13:20Z'])(
  'takes until: %j',
  async (until) => {
    const args = { handle: 'ada.example', until, format: 'json' };

    const { result } = (await callTool(app, 'get_profile', { arguments: args })).json();

    const times: string[] = result.structuredContent.posts.map(
      ({ created_at }: { created_at: string }) => created_at,
    );
    expect(times.length).toBeGreaterThan(0);
    expect(times.every((time) => time < '2026-04-18T08:13:20Z')).toBe(true);
  },
);

describe('an unknown revision', () => {
  const known = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'];
  const unknown = ['1999-01-01', '2025-06-19', '2027-02-01', '2099-12-31', 'draft', '1.0'];

  function expectListed(
    reply: LightMyRequestResponse,
    { requested, isMismatch }: { readonly requested: string; readonly isMismatch: boolean },
  ) {
    expect(reply.statusCode).toBe(400);
    const { id, error } = reply.json();
    expect(id).toBe(1);
    expect(error).toMatchObject({
      code: isMismatch ? -32020 : -32022,
      data: { requested, supported: ['2026-07-28'] },
    });
    for (const revision of [...known, requested]) expect(error.message).toContain(revision);
  }

  it.each(unknown)('in the header is refused with the known ones, %s', async (revision) => {
    const headers = { 'mcp-protocol-version': revision };

    for (const era of eras) {
      const replies = [
        await sendMcp(app, era, { method: 'tools/list', headers }),
        await callTool(app, 'search', { arguments: { q: 'x' }, headers, era }),
      ];
      const isMismatch = era === 'modern'; // the envelope has a known revision
      for (const reply of replies) expectListed(reply, { requested: revision, isMismatch });
    }
  });

  it.each(unknown)('in the envelope is refused with the known ones, %s', async (revision) => {
    const { body, headers } = toMessage('modern', { method: 'tools/list' });
    const { 'mcp-protocol-version': _known, ...others } = headers;
    const payload = body.replace('2026-07-28', revision);

    const named = { ...others, 'mcp-protocol-version': revision };
    for (const sent of [others, named]) {
      const reply = await app.request('/mcp', { method: 'POST', headers: sent, payload });
      expectListed(reply, { requested: revision, isMismatch: false });
    }
  });

  it.each(unknown)('is replaced in a handshake, %s', async (protocolVersion) => {
    const clientInfo = { name: 'test', version: '1' };
    const params = { protocolVersion, capabilities: {}, clientInfo };

    for (const header of ['', protocolVersion, '2026-07-28']) {
      const headers = { 'mcp-protocol-version': header };
      const message = { method: 'initialize', params, headers };
      const { result } = (await sendMcp(app, 'legacy', message)).json();
      expect(result.protocolVersion).toBe('2025-11-25');
    }
  });

  it('is shown without the API keys that it contains, and cut', async () => {
    const key = `perch_${'k'.repeat(32)}`;

    const replies = [key, 'x'.repeat(5000)].map((revision) =>
      post(app, ping, { 'mcp-protocol-version': revision }),
    );

    for (const reply of await Promise.all(replies)) {
      expect(reply.statusCode).toBe(400);
      expect(reply.body).not.toContain(key);
      expect(reply.body.length).toBeLessThan(800);
    }
  });

  it('is not one that is empty', async () => {
    expect((await post(app, ping, { 'mcp-protocol-version': '' })).statusCode).toBe(200);
  });
});

it('names its own revision among the known ones', async () => {
  const { result } = (await sendMcp(app, 'modern', { method: 'server/discover' })).json();
  const { error } = (await post(app, ping, { 'mcp-protocol-version': 'none' })).json();

  expect(error.data.supported).toEqual(result.supportedVersions);
});
