import { expect, it } from 'vitest';
import {
  createPerch,
  type PerchOptions,
  type SessionEvent,
} from '../../../clients/typescript/src/index.ts';
import {
  broken,
  createFakeFetch,
  createSkippingClock,
  type FakeFetch,
  json,
  problem,
  silence,
  stream,
} from '../../support/fake-fetch.ts';
import { buildSessionRig } from '../../support/session-rig.ts';

async function recordSession() {
  const rig = await buildSessionRig();
  const session = await rig.start('one');
  const { deliveryId } = (await rig.say(session, 'two')).json();
  await rig.read(session);
  const { body } = await rig.request(`session/${session.id}/stream`);
  const lines = body.split('\n').filter((line) => line.trim() !== '');
  return { first: session.deliveryId, second: String(deliveryId), lines };
}

function createClient({ fetch }: FakeFetch, options: Partial<PerchOptions> = {}) {
  const clock = createSkippingClock();
  const random = () => 0.5;
  const basics = { baseUrl: 'http://perch.test', bearer: 'token-1', fetch, clock, random };
  return { clock, sessions: createPerch({ ...basics, ...options }).sessions };
}

const accepted = (deliveryId: string) =>
  json({ sessionId: 'ses_1', continuationToken: 'svct_1', deliveryId, ok: true }, {}, 202);

const tail = (index: number) => ({ 'x-stream-tail-index': String(index) });
const toText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

async function collect(events: AsyncIterable<SessionEvent>): Promise<number[]> {
  const indexes: number[] = [];
  for await (const { meta } of events) indexes.push(meta.index);
  return indexes;
}

it('asks a question with an idempotency key, and returns the answer', async () => {
  const { first, lines } = await recordSession();
  const fake = createFakeFetch(
    broken,
    problem('not_ready', 503, 2),
    accepted(first),
    stream([toText(lines)]),
  );
  const { sessions, clock } = createClient(fake);
  const texts: string[] = [];

  const turn = await sessions.ask('one');
  const answer = await turn.answer({ onText: (text) => texts.push(text) });

  expect(answer.message).toBe('The answer to “one”.');
  expect(texts).toEqual(['The answer to “one”.']);
  expect(turn.session).toEqual({ id: 'ses_1', continuationToken: 'svct_1' });
  expect(clock.slept).toEqual([375, 2250]);
  const [started, , again, streamed] = fake.sent;
  expect(started).toEqual({
    url: 'http://perch.test/svc/v1/session',
    method: 'POST',
    headers: {
      authorization: 'Bearer token-1',
      'content-type': 'application/json',
      'idempotency-key': expect.stringMatching(/^[0-9a-f]{32}$/),
    },
    body: '{"message":"one"}',
  });
  expect(again).toEqual(started);
  expect(streamed?.url).toBe('http://perch.test/svc/v1/session/ses_1/stream?startIndex=0');
});

it('continues a session, and yields only the events of its own turn', async () => {
  const { second, lines } = await recordSession();
  const from = 9;
  const fake = createFakeFetch(
    stream([], 'ends', tail(from - 1)),
    accepted(second),
    stream([toText(lines.slice(from))]),
  );
  const { sessions } = createClient(fake);
  const session = { id: 'ses_1', continuationToken: 'svct_1' };

  const turn = await sessions.ask('two', { session, turnPolicy: 'reject' });
  const events = await collect(turn);

  const own = lines.map((line): SessionEvent => JSON.parse(line));
  const wanted = own.filter(({ meta }) => meta.deliveryIds?.includes(second));
  expect(events).toEqual(wanted.map(({ meta }) => meta.index));
  const [look, asked, streamed] = fake.sent;
  expect(look?.url).toContain('/session/ses_1/stream?follow=false&startIndex=-1');
  expect(asked?.headers['x-continuation-token']).toBe('svct_1');
  expect(asked?.body).toBe('{"message":"two","turnPolicy":"reject"}');
  expect(streamed?.url).toContain(`startIndex=${from}`);
});

it('resumes a stream that was lost at any position, and yields no event twice', async () => {
  const { lines } = await recordSession();
  const text = toText(lines.map((line) => ` ${line}`));
  for (let cut = 0; cut < text.length; cut += 61) {
    const whole = text.slice(0, cut).split('\n').length - 1;
    const fake = createFakeFetch(
      stream([text.slice(0, cut)], cut % 2 === 0 ? 'breaks' : 'stalls'),
      stream([toText(lines.slice(whole))]),
    );
    const { sessions } = createClient(fake);

    const indexes = await collect(sessions.events('ses_1'));

    expect(indexes).toEqual([...lines.keys()]);
    expect(fake.sent[1]?.url).toContain(`startIndex=${whole}`);
  }
});

it('reads a text whose characters are cut in the middle of their bytes', async () => {
  const event = { type: 'session.completed', data: { reason: 'änd 🐦' }, meta: { index: 0 } };
  const bytes = new TextEncoder().encode(`${JSON.stringify(event)}\n`);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(bytes.slice(0, cut));
        controller.enqueue(bytes.slice(cut));
        controller.close();
      },
    });
    const { sessions } = createClient(createFakeFetch(() => new Response(body)));
    const events = [];

    for await (const one of sessions.events('ses_1')) events.push(one);

    expect(events).toEqual([event]);
  }
});

it('notices a stream that sends nothing, and one that does not even begin', async () => {
  const { lines } = await recordSession();
  const fake = createFakeFetch(
    silence,
    stream([toText(lines.slice(0, 3))], 'stalls'),
    stream([toText(lines.slice(3))]),
  );
  const { sessions, clock } = createClient(fake, { stallMs: 20_000 });

  const indexes = await collect(sessions.events('ses_1'));

  expect(indexes).toEqual([...lines.keys()]);
  expect(clock.slept).toContain(20_000);
  expect(fake.sent.map(({ url }) => url.split('=')[1])).toEqual(['0', '0', '3']);
});

it.each<[string, (lines: readonly string[]) => Parameters<typeof createFakeFetch>]>([
  [
    'keeps a stream open while the server sends spaces',
    (lines) => [stream([' ', ' ', toText(lines.slice(0, 2)), ' ', toText(lines.slice(2))])],
  ],
  [
    'yields no event twice if a server begins a stream too early',
    (lines) => [stream([toText(lines.slice(0, 4))], 'breaks'), stream([toText(lines)])],
  ],
  [
    'does not take the end of a stream in the middle of a turn for the end of the turn',
    (lines) => [
      stream([toText(lines.slice(0, 4))], 'ends', tail(3)),
      stream([], 'ends', tail(3)),
      stream([toText(lines.slice(4))]),
    ],
  ],
  [
    'counts only consecutive streams without a new event',
    (lines) => [
      broken,
      ...lines.flatMap((line) => [broken, broken, stream([toText([line])], 'breaks')]),
      stream([], 'ends', tail(lines.length - 1)),
    ],
  ],
])('%s', async (_, toReplies) => {
  const { lines } = await recordSession();
  const replies = toReplies(lines);
  const fake = createFakeFetch(...replies);
  const { sessions } = createClient(fake);

  expect(await collect(sessions.events('ses_1'))).toEqual([...lines.keys()]);
  expect(fake.sent).toHaveLength(replies.length);
});

it('gives up after five streams without a new event', async () => {
  const fake = createFakeFetch(broken);
  const { sessions, clock } = createClient(fake);

  await expect(collect(sessions.events('ses_1'))).rejects.toMatchObject({
    code: 'connection_failed',
  });
  expect(clock.slept).toEqual([375, 750, 1500, 3000]);
});

it('ends at once if there is no event, and no question waits', async () => {
  const fake = createFakeFetch(stream([], 'ends', tail(16)));
  const { sessions } = createClient(fake);

  expect(await collect(sessions.events('ses_1', { startIndex: 17 }))).toEqual([]);
  expect(fake.sent).toHaveLength(1);
});

it('throws the problem of a session that was deleted, without a retry', async () => {
  const fake = createFakeFetch(problem('session_expired', 410));
  const { sessions } = createClient(fake);

  await expect(collect(sessions.events('ses_1'))).rejects.toMatchObject({
    code: 'session_expired',
  });
  expect(fake.sent).toHaveLength(1);
});

it('does not wait for hours to open a stream again', async () => {
  const fake = createFakeFetch(problem('overloaded', 503, 7200));
  const { sessions, clock } = createClient(fake);

  await expect(collect(sessions.events('ses_1'))).rejects.toMatchObject({ code: 'overloaded' });
  expect(clock.slept).toEqual([]);
});

it('skips lines that are not events, and passes unknown types on', async () => {
  const unknown = { type: 'weather.changed', data: {}, meta: { index: 1 } };
  const end = { type: 'session.completed', data: { reason: 'reset' }, meta: { index: 2 } };
  const text = [
    'no json',
    '[]',
    '{"type":"session.completed"}',
    '{"type":"session.completed","data":{},"meta":{"index":"0"}}',
    '{"$eve":"stream.lease-ended","version":1}',
    JSON.stringify(unknown),
    JSON.stringify(end),
  ];
  const { sessions } = createClient(createFakeFetch(stream([toText(text)])));

  expect(await collect(sessions.events('ses_1'))).toEqual([1, 2]);
});

it.each([
  ['turn.failed', { message: 'It broke.' }, 'turn_failed', 'It broke.'],
  ['session.failed', { message: 'It broke.' }, 'turn_failed', 'It broke.'],
  ['turn.cancelled', {}, 'turn_cancelled', 'The question was cancelled.'],
  ['session.completed', { reason: 'reset' }, 'session_ended', 'The session has ended (reset).'],
])('throws a TurnError after %s', async (type, data, code, message) => {
  const meta = { index: 0, deliveryIds: ['dlv_1'] };
  const event = JSON.stringify({ type, data, meta });
  const fake = createFakeFetch(accepted('dlv_1'), stream([`${event}\n`]));
  const { sessions } = createClient(fake);
  const turn = await sessions.ask('one');

  await expect(turn.answer()).rejects.toMatchObject({
    name: 'TurnError',
    code,
    message,
    answer: null,
  });
});

it.each([
  ['{}', {}],
  ['a number as id', { sessionId: 1, continuationToken: 'svct_1', deliveryId: 'dlv_1' }],
])('refuses the reply %s to a question', async (_, body) => {
  const { sessions } = createClient(createFakeFetch(json(body, {}, 202)));

  await expect(sessions.ask('one')).rejects.toMatchObject({ code: 'unexpected_response' });
});

it('cancels and resets a session, and uses another address for sessions', async () => {
  const fake = createFakeFetch(json({ ok: true }));
  const { sessions } = createClient(fake, { sessionsUrl: 'http://perch.test/ask/v1/' });

  await sessions.cancel('ses_1', { turnId: 'turn_3' });
  await sessions.reset({ id: 'ses_1', continuationToken: 'svct_1' });
  await sessions.health();

  expect(fake.sent.map(({ method, url, body }) => [method, url, body])).toEqual([
    ['POST', 'http://perch.test/ask/v1/session/ses_1/cancel', '{"turnId":"turn_3"}'],
    ['POST', 'http://perch.test/ask/v1/session/ses_1/reset', '{}'],
    ['GET', 'http://perch.test/ask/v1/health', null],
  ]);
  expect(fake.sent[1]?.headers['x-continuation-token']).toBe('svct_1');
});
