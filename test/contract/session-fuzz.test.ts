import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import { fc, runs } from '../support/fast-check.ts';
import { isLongRun } from '../support/long-run.ts';
import { createScriptedEngine } from '../support/scripted-engine.ts';
import { buildSessionRig, typesOf } from '../support/session-rig.ts';

/** Number of random requests. */
const requests = runs(1000);

/** Number of concurrent starts that are followed by a stream. */
const starts = isLongRun ? 10_000 : 500;

/** Time after which a request counts as hanging. */
const hangMs = 20_000;

/** Text that must not occur in any reply. */
const canary = 'cAnArY';

const json = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(canary, [canary], { [canary]: canary }),
);
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constant(`${canary} ${canary}`),
);
const message = fc.oneof(
  text,
  fc.array(fc.record({ type: fc.constantFrom('text', 'image'), text }), { maxLength: 3 }),
  json,
);
const body = fc.oneof(
  fc
    .record(
      {
        message,
        continuationToken: fc.oneof(text, json),
        turnPolicy: fc.oneof(fc.constantFrom('queue', 'steer', 'reject'), json),
        outputSchema: json,
        inputResponses: json,
        turnId: fc.oneof(fc.constant('turn_0'), json),
        [canary]: json,
      },
      { requiredKeys: [] },
    )
    .map((value) => Buffer.from(JSON.stringify(value))),
  json.map((value) => Buffer.from(JSON.stringify(value))),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.constant(Buffer.from(`{"message":"${canary}`)),
);
const headerText = fc.string({ unit: fc.constantFrom(...'aZ0 ,;="/\\+-_é%'), maxLength: 300 });
const headers = fc.record(
  {
    'content-type': fc.oneof(
      fc.constantFrom('application/json', 'a/b+json', 'text/plain', ''),
      headerText,
    ),
    authorization: fc.oneof(fc.constantFrom('Bearer x', 'Bearer', 'Basic y'), headerText),
    'x-continuation-token': fc.oneof(fc.constant('right'), headerText),
    'idempotency-key': fc.oneof(fc.constant('k'.repeat(20)), headerText),
    accept: headerText,
    origin: headerText,
    'x-forwarded-for': headerText,
  },
  { requiredKeys: [] },
);
const toUtf8 = (value: string) => Buffer.from(value).toString();
const sessionId = fc.oneof(
  fc.constant('right'),
  fc.string({ maxLength: 60 }).map((id) => encodeURIComponent(toUtf8(id))),
);
const cursor = fc.oneof(
  fc.integer().map(String),
  fc.bigInt().map(String),
  fc.string({ maxLength: 30 }).map((value) => encodeURIComponent(toUtf8(value))),
);
const request = fc.record({
  method: fc.constantFrom('GET', 'POST', 'POST', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'),
  route: fc.constantFrom('start', 'say', 'stream', 'cancel', 'reset', 'health', 'none'),
  sessionId,
  startIndex: cursor,
  follow: fc.constantFrom('', '&follow=false', '&follow=maybe', '&follow=', '&includeTailIndex'),
  headers,
  body,
});
type RandomRequest = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

function toUrl({ route, startIndex, follow }: RandomRequest, id: string): string {
  const one = `/svc/v1/session/${id}`;
  const urls: Record<RandomRequest['route'], string> = {
    start: '/svc/v1/session',
    say: one,
    stream: `${one}/stream?startIndex=${startIndex}${follow}`,
    cancel: `${one}/cancel`,
    reset: `${one}/reset`,
    health: '/svc/v1/health',
    none: `${one}/nothing`,
  };
  return urls[route];
}

const plain: RandomRequest = {
  method: 'POST',
  route: 'start',
  sessionId: 'right',
  startIndex: '0',
  follow: '',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify({ message: 'two' })),
};

/** One request of each kind, so that every kind of reply occurs, beside the random ones. */
const always: readonly [RandomRequest][] = [
  [plain],
  [{ ...plain, method: 'GET', route: 'health' }],
  [{ ...plain, body: Buffer.from('{') }],
  [{ ...plain, route: 'say', headers: { ...plain.headers, 'x-continuation-token': 'wrong' } }],
  [{ ...plain, route: 'none' }],
  [{ ...plain, method: 'PUT' }],
  [{ ...plain, headers: { 'content-type': 'text/html' } }],
];

/** Checks that there is no 5xx, no echo, and a problem document for a refusal. */
function expectDecent(reply: LightMyRequestResponse, method: string): void {
  expect(reply.statusCode).toBeLessThan(500);
  const isHistory = reply.headers['x-stream-version'] !== undefined;
  if (!isHistory) expect(reply.body).not.toContain(canary);
  if (reply.statusCode >= 400 && method !== 'HEAD') expect(reply.json().ok).toBe(false);
}

describe('any request', () => {
  it('is answered without a 5xx and without an echo', { timeout: 300_000 }, async () => {
    const engine = createScriptedEngine(async () => ({
      text: 'An answer.',
      citations: [],
      abstained: false,
      finishReason: 'stop',
    }));
    const rig = await buildSessionRig({
      engine,
      env: { PERCH_SESSION_START_BURST: '1000000', PERCH_SESSION_QUEUE: '1000' },
    });
    let session = await rig.start('one');
    const seen = new Set<number>();

    await fc.assert(
      fc.asyncProperty(request, async (random) => {
        const id = random.sessionId === 'right' ? session.id : random.sessionId;
        const given = { ...random.headers } as Record<string, string>;
        if (given['x-continuation-token'] === 'right') Object.assign(given, session.proof);

        const reply = await rig.app.server.inject({
          url: toUrl(random, id),
          method: random.method as 'GET',
          headers: given,
          payload: random.body,
        });

        seen.add(reply.statusCode);
        expectDecent(reply, random.method);
        // A session that was reset or is full cannot reach the other replies.
        if ([409, 429].includes(reply.statusCode) || random.route === 'reset') {
          session = await rig.start('one');
        }
      }),
      { numRuns: requests + always.length, timeout: hangMs, examples: [...always] },
    );

    expect([...seen]).toEqual(expect.arrayContaining([200, 202, 400, 403, 404, 405, 415]));
  });
});

describe('a start that is followed by a stream at once', () => {
  it('never has an empty stream', { timeout: 300_000 }, async () => {
    const rig = await buildSessionRig({
      env: {
        PERCH_SESSION_START_BURST: '1000000',
        PERCH_SESSION_LIVE: '1000000',
        PERCH_SESSION_LIVE_PER_ADDRESS: '100000',
        PERCH_SESSION_TURNS_PER_MINUTE: '1000000',
        PERCH_SESSION_TURNS_AT_ONCE: '2',
      },
    });
    const batch = 50;
    for (let done = 0; done < starts; done += batch) {
      const streams = await Promise.all(
        Array.from({ length: batch }, async () => rig.read(await rig.start('one'))),
      );
      for (const events of streams)
        expect(typesOf(events).slice(-2)).toEqual(['turn.completed', 'session.waiting']);
    }
  });
});
