import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../../src/cli/logger.ts';
import { cleanText, createOutput, escapeJson } from '../../../../src/cli/output/output.ts';
import { fc } from '../../../support/fast-check.ts';

/** Everything that could control a terminal, but line feed and tab. */
const controlling = /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u;

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\u001b[2J', '\u009b31m', '\u202e', '\u2068', '\r', '\n', '\\', '"', '\u007f'),
    fc.string({ unit: 'binary', maxLength: 3 }),
  ),
});

describe('text for people', () => {
  it.each([
    ['plain ü 鷺 🪶\n\ttext', 'plain ü 鷺 🪶\n\ttext'],
    ['\u001b[31mred\u001b]0;title\u0007', '\ufffd[31mred\ufffd]0;title\ufffd'],
    ['\u009b2J and \u0085', '\ufffd2J and \ufffd'],
    ['a\u007fb\u0000c', 'a\ufffdb\ufffdc'],
    ['abc\u202edcb\u202c \u2066x\u2069', 'abcdcb x'],
    ['one\r\ntwo\rthree', 'one\ntwo\nthree'],
    ['\u200f\u200eעברית', '\u200f\u200eעברית'],
  ])('%j is written as %j', (text, cleaned) => {
    expect(cleanText(text)).toBe(cleaned);
  });

  it('has nothing in it that controls a terminal', () => {
    fc.assert(fc.property(anyText, (text) => !controlling.test(cleanText(text))));
  });
});

describe('JSON', () => {
  it('is the same JSON, without a character that controls a terminal', () => {
    fc.assert(
      fc.property(anyText, anyText, (name, value) => {
        const made = { [name]: [value, 1, null] };
        const lines = escapeJson(`${JSON.stringify(made)}\n`);

        expect(JSON.parse(lines)).toEqual(JSON.parse(JSON.stringify(made)));
        expect(lines).not.toMatch(controlling);
      }),
    );
  });
});

describe('an output', () => {
  it('shows a line that is written over on a terminal alone', () => {
    const [terminal, file]: [string[], string[]] = [[], []];
    const [onTerminal, inFile] = [
      createOutput({ isTTY: true, write: (text) => terminal.push(text) }),
      createOutput({ write: (text) => file.push(text) }),
    ];
    for (const output of [onTerminal, inFile]) {
      output.showLine('3 of\u001b[2J 4');
      output.clearLine();
    }

    expect(terminal).toEqual(['\r3 of\ufffd[2J 4\u001b[K', '\r\u001b[K']);
    expect(file).toEqual([]);
  });

  it('waits for a stream that is full, and for none that its reader has left', async () => {
    const stream = new PassThrough({ highWaterMark: 4 });
    const output = createOutput(stream);

    output.write('more than four');
    const drained = output.drained();
    stream.resume();
    await drained;
    output.write('more than four');
    stream.pause().destroy();
    await output.drained();

    expect(output.hasLeft).toBe(true);
  });
});

describe('the log', () => {
  const hostile = 'x\u001b[31;8mhidden\u001b]0;t\u0007\u009b2J\u202e \\u001b[2J';

  it.each([true, false])('on a terminal (%s) lets no logged value control it', async (isTTY) => {
    const written: string[] = [];
    const logger = await createLogger(
      'info',
      createOutput({ isTTY, write: (text) => written.push(text) }),
    );

    logger.error({ err: new Error(hostile), value: hostile }, hostile);

    const text = written.join('');
    expect(text).toContain('hidden');
    // The colours of the log itself.
    expect(text.replaceAll(/\p{Cc}\[\d\d?m/gu, '')).not.toMatch(controlling);
    expect(text).not.toContain('\u001b[31;8m');
    if (!isTTY) expect(JSON.parse(text).value).toBe(hostile);
  });
});
