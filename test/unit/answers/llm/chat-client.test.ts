import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type ChatPiece,
  completeChat,
  readEventStream,
} from '../../../../src/answers/llm/chat-client.ts';
import { openPostClient } from '../../../../src/lib/http/post-client.ts';
import { fakeModel, type ModelExchange } from '../../../support/fake-model.ts';
import { fc } from '../../../support/fast-check.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const messages = [{ role: 'user', content: 'When?' }] as const;
const never = new AbortController().signal;

async function openChat(script?: (exchange: ModelExchange) => void, key?: string) {
  const clock = createManualClock();
  const model = await fakeModel(script);
  const client = openPostClient({ connectTimeoutMs: 2000, userAgent: 'Perch/test', clock });
  onTestFinished(() => client.close());
  const times = { stallMs: 15_000, totalMs: 40_000 };
  const options = { ...times, url: model.url, model: 'm', key, client, clock };
  return { clock, model, chat: completeChat(options, messages, { signal: never }) };
}

/** Requests a completion from a fake endpoint; `said` resolves to all parts received. */
async function speak(script?: (exchange: ModelExchange) => void) {
  const { chat, ...rest } = await openChat(script);
  const pieces: ChatPiece[] = [];
  const listen = async () => {
    for await (const piece of chat) pieces.push(piece);
    return pieces;
  };
  return { ...rest, pieces, said: listen() };
}

const text = (...texts: readonly string[]) => texts.map((one) => ({ kind: 'text', text: one }));
const stop = { kind: 'end', reason: 'stop', usage: undefined };
const chunk = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;

describe('completeChat', () => {
  it('requests only a stream of the configured model', async () => {
    const { model, said } = await speak(({ finish }) => finish());
    await said;

    const [request] = model.requests;
    expect(request).toEqual({
      path: '/v1/chat/completions',
      authorization: undefined,
      model: 'm',
      stream: true,
      messages,
    });
  });

  it.each([
    [
      'ends with [DONE] only',
      ({ say, send }: ModelExchange) => {
        say('At', ' six');
        send('data: [DONE]\n\n');
      },
      [...text('At', ' six'), stop],
    ],
    [
      'continues after the end',
      ({ say, sendChunk }: ModelExchange) => {
        sendChunk({ choices: [{ delta: { content: 'At six' }, finish_reason: 'stop' }] });
        say(' and more');
      },
      [...text('At six'), stop],
    ],
    [
      'sends roles, nulls, usage and its reasoning',
      ({ send, finish }: ModelExchange) => {
        send(': hello\n\n');
        send(chunk({ role: 'assistant', content: null }));
        send(chunk({ reasoning_content: 'Hm.' }));
        send('data: {"choices":[],"usage":null}\n\n');
        send(
          chunk({
            content: [
              { type: 'thinking', thinking: [] },
              { type: 'text', text: 'Six' },
            ],
          }),
        );
        finish('eos', { usage: { prompt_tokens: 3 } });
      },
      [...text('Six'), stop],
    ],
    [
      'sends its reasoning as text',
      ({ say, finish }: ModelExchange) => {
        say('<thi', 'nk>Six? [9]', '</think>', 'Six');
        finish();
      },
      [...text('Six'), stop],
    ],
    [
      'splits characters',
      ({ send }: ModelExchange) => {
        for (const byte of Buffer.from(`${chunk({ content: 'Grüße 🚢' })}data: [DONE]\r\n\r\n`)) {
          send(Uint8Array.of(byte));
        }
      },
      [...text('Grüße 🚢'), stop],
    ],
    [
      'does not stream',
      ({ reply }: ModelExchange) => {
        const choices = [{ message: { content: 'Six' }, finish_reason: 'length' }];
        const usage = { prompt_tokens: 3, completion_tokens: 1 };
        reply({ type: 'application/json', text: JSON.stringify({ choices, usage }) });
      },
      [
        ...text('Six'),
        { kind: 'end', reason: 'length', usage: { inputTokens: 3, outputTokens: 1 } },
      ],
    ],
  ])('parses the reply of an endpoint that %s', async (_, script, pieces) => {
    const { said } = await speak(script);

    expect(await said).toEqual(pieces);
  });

  it.each([
    ['At six [1].', 'At six [1].'],
    ['<think>Is it six?</think>At six [1].', 'At six [1].'],
    ['\n<think>\nIs it < six?\n</think>\n\nAt six <b>[1].', 'At six <b>[1].'],
    ['<think>For ever', ''],
    ['<thing> at six', '<thing> at six'],
    ['At six <think>no</think>', 'At six <think>no</think>'],
  ])('removes the reasoning from %j, however the text is split', async (words, heard) => {
    for (const length of [1, 3, words.length]) {
      const { said } = await speak(({ say, finish }) => {
        say(...(words.match(new RegExp(`.{1,${length}}`, 'gs')) ?? []));
        finish();
      });
      const texts = (await said).map((piece) => (piece.kind === 'text' ? piece.text : ''));
      expect(texts.join('').trim()).toBe(heard);
    }
  });

  it('tolerates a slow model up to the total time limit', async () => {
    const { clock, model, pieces, said } = await speak();
    const ended = said.catch((error: Error) => error);
    const exchange = await model.next();
    const seen = async (count: number) => {
      while (pieces.length < count) await new Promise((resolve) => setImmediate(resolve));
    };

    for (let at = 1; at <= 3; at += 1) {
      await clock.advance(13_000);
      exchange.say('six ');
      await seen(at);
    }
    await clock.advance(1000);

    expect(await ended).toMatchObject({
      code: 'model_stalled',
      message: 'The language model took more than 40 seconds.',
    });
    await exchange.closed;
  });

  it('closes the connection when the caller stops reading', async () => {
    const { model, chat: pieces } = await openChat(undefined, 'k');
    const first = pieces.next();
    const exchange = await model.next();
    exchange.say('At six', ' or so');

    expect((await first).value).toEqual({ kind: 'text', text: 'At six' });
    await pieces.return(undefined);

    await exchange.closed;
    expect(exchange.request.authorization).toBe('Bearer k');
  });

  it.each([[204], [301], [404], [503]])('fails on status %i', async (status) => {
    const { said } = await speak(({ reply }) =>
      reply({ type: 'text/event-stream', text: '' }, status, { location: '/elsewhere' }),
    );

    await expect(said).rejects.toMatchObject({ code: 'model_failed' });
  });

  it('fails on an endless body', async () => {
    const { said } = await speak(({ reply }) =>
      reply({ type: 'application/json', text: ' '.repeat(1_100_000) }),
    );

    await expect(said).rejects.toMatchObject({
      message: 'The language model’s endpoint sent too much data.',
    });
  });
});

const limits = { maxLine: 1000, maxBytes: 10_000 };

async function read(chunks: readonly Uint8Array[], within = limits): Promise<readonly string[]> {
  async function* arrive() {
    yield* chunks;
  }
  const events: string[] = [];
  for await (const data of readEventStream(arrive(), within)) events.push(data);
  return events;
}

const bytes = (text: string) => new TextEncoder().encode(text);

describe('readEventStream', () => {
  it.each([
    ['LF', 'data: one\n\ndata: two\n\n', ['one', 'two']],
    ['CR LF', 'data: one\r\n\r\ndata: two\r\n\r\n', ['one', 'two']],
    ['CR', 'data: one\r\rdata: two\r\r', ['one', 'two']],
    ['comments and other fields', ': hm\nevent: x\nid: 1\nretry: 5\ndata: one\n\n', ['one']],
    ['no space after the colon', 'data:one\n\ndata:  two\n\n', ['one', ' two']],
    ['several lines of data', 'data: one\ndata: two\ndata\n\n', ['one\ntwo\n']],
    ['no blank line at the end', 'data: one\n\ndata: two', ['one', 'two']],
    ['blank lines only', '\n\n\r\n\n', []],
    ['a byte order mark', '\u{feff}data: one\n\n', ['one']],
  ])('parses %s', async (_, text, events) => {
    expect(await read([bytes(text)])).toEqual(events);
  });

  it('yields the same events however the bytes are split', async () => {
    const text = ': ok\r\ndata: Grüße 🚢 “x”\r\n\r\ndata: a\r\ndata: b\r\n\r\ndata: [DONE]\r\n\r\n';
    const whole = bytes(text);

    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 12 }), async (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
        const chunks = at.slice(1).map((end, index) => whole.slice(at[index], end));
        expect(await read(chunks)).toEqual(['Grüße 🚢 “x”', 'a\nb', '[DONE]']);
      }),
    );
  });

  it.each([
    ['line', [bytes(`data: ${'x'.repeat(1001)}`)]],
    ['line that ends', [bytes(`data: ${'x'.repeat(1001)}\n\n`)]],
    ['event', Array.from({ length: 11 }, () => bytes(`data: ${'x'.repeat(100)}\n`))],
    ['stream', Array.from({ length: 30 }, () => bytes(`: ${'x'.repeat(400)}\n`))],
  ])('throws if a %s is too long', async (_, chunks) => {
    await expect(read(chunks)).rejects.toMatchObject({ code: 'model_failed' });
  });
});
