import { describe, expect, it } from 'vitest';
import { readEventStream } from '../../../../src/answers/model/chat-client.ts';
import { fc } from '../../../support/fast-check.ts';

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
