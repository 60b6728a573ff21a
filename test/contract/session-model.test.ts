import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import type { AnswerEngine } from '../../src/answers/answer.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { buildApp } from '../../src/server/build-app.ts';
import type { SessionEvent } from '../../src/sessions/events.ts';
import { testConfig } from '../support/build-app.ts';
import { corpusOf } from '../support/corpus-folder.ts';
import { fakeModel, type ModelExchange, markerOf } from '../support/fake-model.ts';
import { harbourDocs, openModelRig } from '../support/model-rig.ts';
import {
  openStream,
  postTo,
  readStream,
  readText,
  startSession,
} from '../support/session-client.ts';
import { answeredTurn, parseEvents, typesOf } from '../support/session-rig.ts';

const key = 'sk-never-to-be-seen-42';
const question = 'When do the sluice gates open?';

const sessionsAlone = {
  PERCH_SESSIONS: 'on',
  PERCH_PROVIDERS: 'archive',
  PERCH_SAMPLE: 'false',
  PERCH_ACCESS_LOG: 'all',
};

interface Serving {
  readonly env?: Readonly<Record<string, string>>;
  readonly engine?: AnswerEngine;
}

/** A server with sessions on a socket, which logs everything. */
async function listenFor({ env = {}, engine }: Serving) {
  const log: string[] = [];
  const app = await buildApp({
    config: testConfig({ ...sessionsAlone, ...env }),
    clock: systemClock,
    random: systemRandom,
    logger: pino({ level: 'trace' }, { write: (line) => void log.push(line) }),
    ...(engine === undefined ? {} : { engine }),
  });
  onTestFinished(() => app.server.close());
  const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
  while (!(await fetch(`${url}/svc/v1/health`)).ok);
  return { url, log };
}

/** A server whose model comes from the configuration, as for an operator. */
async function serveConfigured(script?: (exchange: ModelExchange) => void) {
  const model = await fakeModel(script);
  const env = {
    PERCH_CORPUS: corpusOf(harbourDocs).root,
    PERCH_MODEL_URL: model.url,
    PERCH_MODEL: 'harbour-7b',
    PERCH_MODEL_KEY: key,
  };
  return { ...(await listenFor({ env })), model };
}

/** A server over an engine with a fake model, which starts faster. */
async function serve(script?: (exchange: ModelExchange) => void) {
  const { engine, model } = await openModelRig(script === undefined ? {} : { script });
  return { ...(await listenFor({ engine })), model };
}

/** Threads may have to start on a busy machine. */
const slowMs = 30_000;

type DataOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>['data'];

function onlyOf<Type extends SessionEvent['type']>(
  events: readonly SessionEvent[],
  type: Type,
): DataOf<Type> {
  const found = events.filter((event) => event.type === type);
  expect(found).toHaveLength(1);
  // The filter passes only this type.
  return found[0]?.data as DataOf<Type>;
}

function deltasOf(events: readonly SessionEvent[]): readonly string[] {
  return events.flatMap(({ type, data }) => (type === 'message.appended' ? data.messageDelta : []));
}

const orderOf = (events: readonly SessionEvent[]) =>
  typesOf(events).filter((type, at, all) => type !== 'message.appended' || all[at - 1] !== type);

const answered = ['session.started', ...answeredTurn];

it('streams an answer of the model, in the order of the events of a turn', {
  timeout: slowMs,
}, async () => {
  const { url, model } = await serveConfigured();
  const { id } = await startSession(url, question);
  const { reply } = await openStream(url, id);
  const whole = readText(reply);
  const exchange = await model.next();

  exchange.say('They open ', 'at six ', markerOf(exchange.request, 'six in the morning'), '. And');
  await new Promise<void>((resolve) => {
    let soFar = '';
    reply.on('data', (text) => {
      soFar += text;
      if (soFar.includes('message.appended')) resolve();
    });
  });
  exchange.finish('stop', { usage: { prompt_tokens: 800, completion_tokens: 9 } });

  const events = parseEvents(await whole);
  expect(orderOf(events)).toEqual(answered);
  expect(onlyOf(events, 'step.started').modelId).toBe('harbour-7b');
  const { message, citations, finishReason } = onlyOf(events, 'message.completed');
  expect(message).toBe(
    'They open at six (`gates.md#opening-hours:3`).\n\nSources:\n\n- Opening hours – Gates (`gates.md#opening-hours:3`)\n',
  );
  expect(citations).toMatchObject([{ path: 'gates.md', heading: 'Opening hours', line: 3 }]);
  expect(finishReason).toBe('stop');
  expect(deltasOf(events).join('')).toBe(message);
  expect(onlyOf(events, 'step.completed')).toEqual({
    finishReason: 'stop',
    usage: { inputTokens: 800, outputTokens: 9 },
    sequence: 0,
    turnId: 'turn_0',
    stepIndex: 0,
  });
});

it('reports in `step.completed` that the model failed, and answers without it', async () => {
  const { url } = await serve(({ reply }) =>
    reply({ type: 'application/json', text: `{"error":{"message":"bad key ${key}"}}` }, 401),
  );

  const { id } = await startSession(url, question);
  const events = parseEvents(await readStream(url, id));

  expect(orderOf(events)).toEqual(answered);
  expect(onlyOf(events, 'message.completed')).toMatchObject({
    message: expect.stringMatching(/^The sluice gates open at six in the morning\./),
    abstained: false,
  });
  expect(onlyOf(events, 'step.completed')).toMatchObject({
    finishReason: 'stop',
    fallback: {
      modelId: 'perch/extractive',
      code: 'model_failed',
      message: 'The language model’s endpoint answered 401.',
    },
  });
});

it('retracts nothing of an interrupted answer', async () => {
  const { url } = await serve(({ request, say }) => {
    say(`The gates are green ${markerOf(request, 'painted green')}.`);
    say(' They were red [31] before', ' that.');
  });

  const { id } = await startSession(url, question);
  const events = parseEvents(await readStream(url, id));

  expect(orderOf(events)).toEqual(answered);
  const { message } = onlyOf(events, 'message.completed');
  expect(deltasOf(events).join('')).toBe(message);
  expect(message).toMatch(/^The gates are green .* ended unexpectedly here.*six in the morning/s);
  expect(message).not.toContain('red');
  expect(onlyOf(events, 'step.completed').fallback?.code).toBe('model_miscited');
});

it('closes the connection to the endpoint when the turn is cancelled', async () => {
  const { url, model } = await serve();
  const { id } = await startSession(url, question);
  const exchange = await model.next();
  exchange.say('They');

  await postTo(url, `session/${id}/cancel`);

  await exchange.closed;
  const events = parseEvents(await readStream(url, id));
  expect(typesOf(events).slice(-2)).toEqual(['turn.cancelled', 'session.waiting']);
});

it('passes the earlier turns to the model', async () => {
  const { url, model } = await serve(({ request, say, finish }) => {
    say(`At six ${markerOf(request, 'six in the morning')}.`);
    finish();
  });
  const { id, token } = await startSession(url, question);
  await readStream(url, id);

  await postTo(url, `session/${id}`, { token, body: { message: 'And who opens them?' } });
  await readStream(url, id);

  const [, second] = model.requests;
  expect(second?.messages.slice(1, 3)).toEqual([
    { role: 'user', content: question },
    { role: 'assistant', content: 'At six.' },
  ]);
});

const indiscreet: readonly ((exchange: ModelExchange) => void)[] = [
  ({ reply }) => reply({ type: 'text/plain', text: key }, 500),
  ({ sendChunk }) => sendChunk({ error: { message: `wrong key ${key}`, code: key } }),
  ({ say }) => say(`The key is ${key} [1] and`, ' so on.'),
  ({ reply }) => reply({ type: 'text/x', text: '' }, 302, { location: `/${key}` }),
];

it('keeps the key out of events and logs, whatever the endpoint sends', {
  timeout: slowMs,
}, async () => {
  const scripts = [...indiscreet];
  const { url, model, log } = await serveConfigured((exchange) => scripts.shift()?.(exchange));

  for (const _ of indiscreet) {
    const { id } = await startSession(url, question);
    const stream = await readStream(url, id);

    expect(model.requests.at(-1)?.authorization).toBe(`Bearer ${key}`);
    expect(stream).toContain('"fallback"');
    expect(stream).not.toContain(key);
  }

  expect(model.requests).toHaveLength(indiscreet.length);
  expect(log.join('')).toContain('answered without the language model');
  expect(log.join('')).not.toContain(key);
});
