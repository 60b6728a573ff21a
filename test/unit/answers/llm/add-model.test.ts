import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Answer, Citation } from '../../../../src/answers/answer.ts';
import { printSources } from '../../../../src/answers/engine/compose.ts';
import { completeInterrupted } from '../../../../src/answers/llm/add-model.ts';
import { type ModelExchange, markerOf } from '../../../support/fake-model.ts';
import { openModelRig } from '../../../support/model-rig.ts';

const question = 'When do the sluice gates open?';
const place = '`gates.md#opening-hours:3`';
const source = `Opening hours – Gates (${place})`;

const sureDocs = {
  'cranes.md':
    '# Cranes\n\n## What is the maximum load of a crane?\n\nThe maximum load of a crane is nine tons.\n',
  'gates.md': '# Gates\n\n## Paint\n\nThe gates are green.\n',
};

/** Scripts a model that sends pieces of text and ends. */
const saying =
  (...pieces: string[]) =>
  ({ say, finish }: ModelExchange) => {
    say(...pieces);
    finish();
  };

describe('an answer of a language model', () => {
  it('is streamed with locations in place of citation numbers, and ends with its sources', async () => {
    const { ask, model, engine, fallbacks } = await openModelRig();

    const asked = ask(question);
    const exchange = await model.next();
    const marker = markerOf(exchange.request, 'six in the morning');
    exchange.say(
      'The gates',
      ' open at',
      ' six ',
      marker.slice(0, 1),
      marker.slice(1),
      '.',
      ' They',
    );
    await asked.received('six');
    expect(asked.pieces).toEqual([`The gates open at six (${place})`]);
    exchange.say(` are green ${markerOf(exchange.request, 'painted green')}.`);
    exchange.finish('stop', { usage: { prompt_tokens: 900, completion_tokens: 12 } });

    const answer = await asked.answer;
    const inGates = { path: 'gates.md', title: 'Gates', score: expect.any(Number) };
    expect(answer).toEqual({
      text: `The gates open at six (${place}). They are green (\`gates.md#paint:7\`).\n\nSources:\n\n- ${source}\n- Paint – Gates (\`gates.md#paint:7\`)\n`,
      citations: [
        { ...inGates, heading: 'Opening hours', line: 3, endLine: 6 },
        { ...inGates, heading: 'Paint', line: 7, endLine: 9 },
      ],
      abstained: false,
      finishReason: 'stop',
      usage: { inputTokens: 900, outputTokens: 12 },
    });
    expect(asked.pieces.join('')).toBe(answer.text);
    expect(engine.modelId).toBe('harbour-7b');
    expect(fallbacks).toEqual([]);
  });

  it('is read from an endpoint that does not stream', async () => {
    const script = ({ request, reply }: ModelExchange) => {
      const content = `At six ${markerOf(request, 'six in the morning')}.`;
      const choices = [
        { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' },
      ];
      reply({ type: 'application/json; charset=utf-8', text: JSON.stringify({ choices }) });
    };
    const { ask } = await openModelRig({ script });

    expect(await ask(question).answer).toMatchObject({
      text: `At six (${place}).\n\nSources:\n\n- ${source}\n`,
      finishReason: 'stop',
    });
  });

  it('abstains if the model does, and names the nearest sections', async () => {
    const script = saying('NOT_', 'ANSWERED', ' because the passages are about gates.');
    const { ask, fallbacks } = await openModelRig({ script });

    const asked = ask('What do the gates cost?');

    const answer = await asked.answer;
    expect(answer).toMatchObject({ abstained: true, citations: [], finishReason: 'stop' });
    expect(answer.text).toMatch(
      /^The documentation does not seem to answer this\. .*nearest.*gates\.md#/s,
    );
    expect(asked.pieces.join('')).toBe(answer.text);
    expect(fallbacks).toEqual([]);
  });

  it('is the extract if the model declines a question that the search is sure of', async () => {
    const script = saying('NOT_ANSWERED');
    const { ask, fallbacks } = await openModelRig({ script, docs: sureDocs });

    const asked = ask('What is the maximum load of a crane?');

    const answer = await asked.answer;
    expect(answer).toMatchObject({ abstained: false, fallback: { code: 'model_declined' } });
    expect(answer.text).toMatch(/^The maximum load of a crane is nine tons\./);
    expect(asked.pieces.join('')).toBe(answer.text);
    expect(fallbacks).toMatchObject([{ code: 'model_declined' }]);
  });

  it('is written from passages that the model has sorted, if it may', async () => {
    const { ask, model, engine } = await openModelRig({ choice: { reranks: true } });
    const asked = ask(question);
    const sorting = await model.next();
    const best = markerOf(sorting.request, 'painted green').slice(1, -1);
    saying(`${best}, 99, 0 and ${best}`)(sorting);

    saying('They are green [1].')(await model.next());

    expect(sorting.request.messages.at(-1)?.content).toMatch(
      /Question: When do the sluice gates open\?$/,
    );
    expect((await asked.answer).citations).toMatchObject([{ heading: 'Paint' }]);
    expect(engine.modelId).toBe('harbour-7b');
  });

  it.each<[string, (exchange: ModelExchange) => void]>([
    ['fails', ({ reply }) => reply({ type: 'text/plain', text: '' }, 500)],
    [
      'breaks off',
      ({ say, cut }) => {
        say('2');
        cut();
      },
    ],
    ['names no passage', saying('none, 99')],
    ['writes without end', ({ say }) => say('no '.repeat(400))],
  ])('keeps the order of the search if the sorting %s', async (_, end) => {
    const { ask, model, fallbacks } = await openModelRig({ choice: { reranks: true } });
    const asked = ask(question);
    end(await model.next());

    saying('At six [1].')(await model.next());

    expect((await asked.answer).citations).toMatchObject([{ heading: 'Opening hours' }]);
    expect(fallbacks).toEqual([]);
  });

  it('does not wait for the sorting for more than five seconds', async () => {
    const { ask, model, clock } = await openModelRig({ choice: { reranks: true } });
    const asked = ask(question);
    const sorting = await model.next();

    await clock.advance(5000);

    await sorting.closed;
    saying('At six [1].')(await model.next());
    expect((await asked.answer).citations).toMatchObject([{ heading: 'Opening hours' }]);
  });

  it('is requested with the passages, the earlier turns and the key', async () => {
    const { ask, model } = await openModelRig();
    const earlier = [
      {
        question: 'How do I start a crane?',
        answer:
          'With `crane start` (`cranes.md#starting:3`).\n\nSources:\n\n- Starting (`cranes.md#starting:3`)\n',
        citations: [{ path: 'cranes.md', heading: 'Starting', line: 3, endLine: 9, score: 1 }],
      },
    ];

    void ask('And when do the gates open?', earlier).answer.catch(() => {});

    const { request } = await model.next();
    expect(request).toMatchObject({
      path: '/v1/chat/completions',
      authorization: 'Bearer sk-harbour-0123456789',
      model: 'harbour-7b',
      stream: true,
    });
    const [system, before, said, last] = request.messages;
    expect(system?.role).toBe('system');
    expect(before).toEqual({ role: 'user', content: 'How do I start a crane?' });
    expect(said).toEqual({ role: 'assistant', content: 'With `crane start`.' });
    expect(last?.role).toBe('user');
    expect(last?.content).toMatch(
      /<passage number="1" place="gates\.md#opening-hours:3" title="Gates › Opening hours">/,
    );
    expect(last?.content).toMatch(/Question: And when do the gates open\?$/);
  });

  it('is not requested if no passage matches the question', async () => {
    const { ask, model } = await openModelRig();

    const answer = await ask('zzqx qqwv').answer;

    expect(answer).toMatchObject({ abstained: true, fallback: { code: 'model_not_asked' } });
    expect(model.requests).toEqual([]);
  });

  it('ends at the length limit, and closes the connection', async () => {
    const { ask, model } = await openModelRig();

    const asked = ask(question);
    const exchange = await model.next();
    const marker = markerOf(exchange.request, 'six in the morning');
    for (let at = 0; at < 5; at += 1)
      exchange.say(`${'they open at six '.repeat(50)}${marker}.`, ' And ');

    const answer = await asked.answer;
    await exchange.closed;
    expect(answer.finishReason).toBe('length');
    expect(answer.text.length).toBeLessThanOrEqual(4000);
    expect(answer.text).toMatch(
      /Sources:\n\n- Opening hours – Gates \(`gates\.md#opening-hours:3`\)\n$/,
    );
    expect(answer.fallback).toBeUndefined();
  });

  it('has the finish reason `length` if the endpoint truncated it', async () => {
    const script = ({ request, say, finish }: ModelExchange) => {
      say(`At six ${markerOf(request, 'six in the morning')}. And then the`);
      finish('length');
    };
    const { ask } = await openModelRig({ script });

    expect(await ask(question).answer).toMatchObject({
      text: expect.stringMatching(/^At six \(.*\)\.\n\nSources/),
      finishReason: 'length',
    });
  });
});

describe('the extractive engine answers instead', () => {
  const json = 'application/json';
  const failing: readonly [string, string, (exchange: ModelExchange) => void][] = [
    [
      'answers 500',
      'model_failed',
      ({ reply }) => reply({ type: json, text: '{"error":{}}' }, 500),
    ],
    ['answers 401', 'model_failed', ({ reply }) => reply({ type: json, text: '{}' }, 401)],
    ['answers 429', 'model_failed', ({ reply }) => reply({ type: json, text: '{}' }, 429)],
    [
      'redirects',
      'model_failed',
      ({ reply }) => reply({ type: json, text: '' }, 307, { location: 'http://127.0.0.1:1/' }),
    ],
    [
      'sends an HTML page',
      'model_failed',
      ({ reply }) => reply({ type: 'text/html', text: '<p>hi' }),
    ],
    [
      'sends invalid JSON',
      'model_failed',
      ({ reply }) => reply({ type: json, text: '{"choices":[' }),
    ],
    ['sends no text', 'model_failed', ({ finish }) => finish()],
    [
      'closes the connection',
      'model_failed',
      ({ say, cut }) => {
        say('The');
        cut();
      },
    ],
    [
      'reports an error',
      'model_failed',
      ({ sendChunk }) => sendChunk({ error: { message: 'no credit' } }),
    ],
    ['streams invalid JSON', 'model_failed', ({ send }) => send('data: {"cho\n\n')],
    ['sends a huge line', 'model_failed', ({ send }) => send(`data: "${'x'.repeat(300_000)}`)],
    ['calls a tool', 'model_failed', ({ finish }) => finish('tool_calls')],
    ['is stopped by a content filter', 'model_failed', ({ finish }) => finish('content_filter')],
    ['cites nothing', 'model_uncited', saying('At six.')],
    [
      'sends a long text without citations',
      'model_uncited',
      ({ say }) => say('At six. '.repeat(500)),
    ],
    ['cites an unknown passage', 'model_miscited', ({ say }) => say('At six [99]. So', ' there.')],
    ['cites number 0', 'model_miscited', saying('At six [0].')],
    [
      'makes up a URL',
      'model_miscited',
      ({ say }) => say('See [this](https://evil.example/?q=secret) [1] for', ' more.'),
    ],
    [
      'makes up a location',
      'model_miscited',
      ({ say }) => say('It stands in `gates.md#closing:12` [1] for', ' all.'),
    ],
  ];

  it.each(failing)('if the model %s: %s', async (_, code, script) => {
    const { ask, engine, fallbacks } = await openModelRig({ script });

    const asked = ask(question);

    const answer = await asked.answer;
    expect(answer).toMatchObject({
      text: expect.stringMatching(/^The sluice gates open at six in the morning\./),
      citations: [{ path: 'gates.md', heading: 'Opening hours', line: 5 }, {}, {}],
      abstained: false,
      fallback: {
        modelId: 'perch/extractive',
        code,
        message: expect.stringMatching(/^[A-Z].*\.$/),
      },
    });
    expect(asked.pieces.join('')).toBe(answer.text);
    expect(fallbacks).toEqual([answer.fallback]);
    expect(engine.modelId).toBe('harbour-7b');
  });

  it('if the endpoint cannot be reached', async () => {
    const { ask } = await openModelRig({ choice: { url: 'http://127.0.0.1:1/v1' } });

    expect(await ask(question).answer).toMatchObject({
      text: expect.stringMatching(/six in the morning/),
      fallback: { code: 'model_failed' },
    });
  });

  it('if the model stalls, and the connection is closed', async () => {
    const { ask, model, clock } = await openModelRig();
    const asked = ask(question);
    const exchange = await model.next();

    await clock.advance(14_999);
    exchange.send(': still at work\n\n');
    await clock.advance(1);

    expect((await asked.answer).fallback).toEqual({
      modelId: 'perch/extractive',
      code: 'model_stalled',
      message: 'The language model took more than 15 seconds.',
    });
    await exchange.closed;
  });

  it('if a passage has changed in the meantime', async () => {
    const { ask, model, root, refresh } = await openModelRig();
    const asked = ask(question);
    const { request, say, finish } = await model.next();

    writeFileSync(join(root, 'gates.md'), '# Gates\n\n## Opening hours\n\nThey open at nine.\n');
    await refresh();
    say(`At six ${markerOf(request, 'six in the morning')}.`);
    finish();

    expect(await asked.answer).toMatchObject({
      text: expect.stringMatching(/^They open at nine\./),
      fallback: { code: 'model_miscited' },
    });
  });
});

describe('an interrupted answer', () => {
  const breaking: readonly [string, string, (exchange: ModelExchange) => void][] = [
    ['the connection breaks', 'model_failed', ({ cut }) => cut()],
    [
      'the endpoint reports an error',
      'model_failed',
      ({ sendChunk }) => sendChunk({ error: 'overloaded' }),
    ],
    ['an unknown passage is cited', 'model_miscited', ({ say }) => say('Red [7].', ' So')],
  ];

  it.each(breaking)('is completed from the passages if %s', async (_, code, end) => {
    const { ask, model } = await openModelRig();
    const asked = ask(question);
    const exchange = await model.next();
    exchange.say(`The gates are green ${markerOf(exchange.request, 'painted green')}.`, ' And');
    await asked.received('green');

    end(exchange);

    const answer = await asked.answer;
    expect(answer.text).toMatch(
      /^The gates are green \(`gates\.md#paint:7`\)\n\nThe answer of the language model ended unexpectedly here\. The documentation says:\n\nThe sluice gates open at six in the morning\..*Sources:\n\n- Opening hours – Gates \(`gates\.md#opening-hours:5`\)\n- Gates \(`gates\.md#gates:1`\)\n- Paint – Gates \(`gates\.md#paint:7`\)\n$/s,
    );
    expect(answer.citations.map(({ heading }) => heading)).toEqual([
      'Opening hours',
      'Gates',
      'Paint',
    ]);
    expect(answer.fallback?.code).toBe(code);
    expect(asked.pieces.join('')).toBe(answer.text);
  });

  it('is completed from the passages if the model stalls', async () => {
    const { ask, model, clock } = await openModelRig();
    const asked = ask(question);
    const exchange = await model.next();
    await clock.advance(10_000);
    exchange.say(`At six ${markerOf(exchange.request, 'six in the morning')}.`, ' And');
    await asked.received('six');

    await clock.advance(14_000);
    expect(asked.pieces).toHaveLength(1);
    await clock.advance(1000);

    expect((await asked.answer).fallback?.code).toBe('model_stalled');
  });
});

describe('the endpoint', () => {
  it('is disconnected when the turn is cancelled', async () => {
    const { ask, model, fallbacks } = await openModelRig();
    const asked = ask(question);
    const exchange = await model.next();
    exchange.say('The', ' gates');

    asked.cancel();

    await expect(asked.answer).rejects.toThrow('cancelled');
    await exchange.closed;
    expect(fallbacks).toEqual([]);
  });

  it('is not called for half a minute after five consecutive failures', async () => {
    const { ask, model, clock } = await openModelRig({
      script: ({ reply }) => reply({ type: 'text/plain', text: '' }, 503),
    });
    for (let at = 0; at < 5; at += 1) await ask(question).answer;

    expect((await ask(question).answer).fallback?.code).toBe('model_paused');
    expect(model.requests).toHaveLength(5);
    await clock.advance(30_000);
    expect((await ask(question).answer).fallback?.code).toBe('model_failed');
    expect(model.requests).toHaveLength(6);
  });

  it('is not called for as long as its Retry-After header says', async () => {
    const { ask, model, clock } = await openModelRig({
      script: ({ reply }) => reply({ type: 'text/plain', text: '' }, 429, { 'retry-after': '7' }),
    });
    await ask(question).answer;

    await clock.advance(6999);
    expect((await ask(question).answer).fallback?.code).toBe('model_paused');
    await clock.advance(1);
    expect((await ask(question).answer).fallback?.code).toBe('model_failed');
    expect(model.requests).toHaveLength(2);
  });

  it('cannot leak the key', async () => {
    const key = 'sk-harbour-0123456789';
    const { ask, fallbacks } = await openModelRig({ script: saying(`The key is ${key} [1].`) });

    const answer = await ask(question).answer;

    expect(JSON.stringify([answer, fallbacks])).not.toContain(key);
    expect(answer.fallback?.code).toBe('model_failed');
  });
});

const cite = (path: string, line = 1): Citation => {
  return { path, heading: '', line, endLine: line, score: 1 };
};
const answerOf = (body: string, citations: readonly Citation[]): Answer => ({
  text: `${body}\n\n${printSources(citations)}`,
  citations,
  abstained: false,
  finishReason: 'stop',
});

describe('completeInterrupted', () => {
  it('joins the sources of both answers, each section once, up to five', () => {
    const before = { shown: 'Said.', citations: [cite('a.md'), cite('b.md')] };
    const others = ['c.md', 'd.md', 'e.md', 'f.md'].map((path) => cite(path));

    const answer = completeInterrupted(before, answerOf('Told.', [cite('b.md', 7), ...others]));

    expect(answer.citations.map(({ path }) => path)).toEqual([
      'a.md',
      'b.md',
      'c.md',
      'd.md',
      'e.md',
    ]);
    expect(answer.text).toBe(
      `Said.\n\nThe answer of the language model ended unexpectedly here. The documentation says:\n\nTold.\n\n${printSources(answer.citations)}`,
    );
    expect(answer).toMatchObject({ abstained: false, finishReason: 'stop' });
  });

  it.each([500, 2000, 3500, 3800])('stays within 4,000 characters after %i', (length) => {
    const before = { shown: 'x'.repeat(length), citations: [cite('a.md')] };

    const answer = completeInterrupted(before, answerOf('word '.repeat(780), [cite('b.md')]));

    expect(answer.text.length).toBeLessThanOrEqual(4000);
    expect(answer.finishReason).toBe('length');
    expect(answer.text).toMatch(
      /^x+\n\nThe answer of the language model ended unexpectedly here\./,
    );
    expect(answer.text.endsWith(printSources(answer.citations))).toBe(true);
  });

  it('adds only a notice if the documentation has no answer', () => {
    const before = { shown: 'Said.', citations: [cite('a.md')] };
    const declined: Answer = {
      text: 'The documentation does not seem to answer this.\n',
      citations: [],
      abstained: true,
      finishReason: 'stop',
    };

    const { text, ...rest } = completeInterrupted(before, declined);

    expect(text).toBe(
      'Said.\n\nThe answer of the language model ended unexpectedly here.\n\nSources:\n\n- `a.md:1`\n',
    );
    expect(rest).toEqual({ citations: [cite('a.md')], abstained: false, finishReason: 'stop' });
  });
});
