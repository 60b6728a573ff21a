import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../../src/cli/logger.ts';
import { cleanText, createOutput, escapeJson } from '../../../../src/cli/output/output.ts';
import { fc } from '../../../support/fast-check.ts';

/** Characters that could control a terminal, except line feed and tab. */
const controlling = /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u;

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\u001b[2J', '\u009b31m', '\u202e', '\u2068', '\r', '\n', '\\', '"', '\u007f'),
    fc.string({ unit: 'binary', maxLength: 3 }),
  ),
});

describe('cleanText', () => {
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

  it('leaves no terminal control characters', () => {
    fc.assert(fc.property(anyText, (text) => !controlling.test(cleanText(text))));
  });
});

describe('escapeJson', () => {
  it('keeps the value and leaves no terminal control characters', () => {
    fc.assert(
      fc.property(anyText, anyText, (name, value) => {
        const original = { [name]: [value, 1, null] };
        const lines = escapeJson(`${JSON.stringify(original)}\n`);

        expect(JSON.parse(lines)).toEqual(JSON.parse(JSON.stringify(original)));
        expect(lines).not.toMatch(controlling);
      }),
    );
  });
});

describe('an output', () => {
  it('shows a status line on a terminal only', () => {
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

  it('removes the status line before other text, and only if it is shown', () => {
    const written: string[] = [];
    const output = createOutput({ isTTY: true, write: (text) => written.push(text) });

    output.write('one\n');
    output.showLine('1 of 2');
    output.write('two\n');
    output.clearLine();

    expect(written).toEqual(['one\n', '\r1 of 2\u001b[K', '\r\u001b[K', 'two\n']);
  });

  it.each([
    ['abcdefghij', 11, 'abcdefghij'],
    ['abcdefghij', 10, 'abcdefghi'],
    ['鷺鷺鷺', 7, '鷺鷺鷺'],
    ['鷺鷺鷺', 6, '鷺鷺'],
    ['🪶🪶', 4, '🪶'],
    ['a'.repeat(90), undefined, 'a'.repeat(79)],
    ['a'.repeat(90), 0, 'a'.repeat(79)],
  ])('cuts the status line %j in %s columns to %j', (text, columns, shown) => {
    const written: string[] = [];
    const width = columns === undefined ? {} : { columns };
    const output = createOutput({ isTTY: true, ...width, write: (line) => written.push(line) });

    output.showLine(text);

    expect(written).toEqual([`\r${shown}\u001b[K`]);
  });

  it('has no status line if the output must be plain', () => {
    const written: string[] = [];
    const raw = { isTTY: true, write: (text: string) => written.push(text) };
    const output = createOutput(raw, { isPlain: true });

    output.showLine('1 of 2');
    output.clearLine();
    output.showProgress('2 of 2');

    expect(output.hasStatusLine).toBe(false);
    expect(written).toEqual(['2 of 2\n']);
  });

  it('waits for a full stream, but not for a closed one', async () => {
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

  it.each([true, false])('escapes control characters in values (terminal: %s)', async (isTTY) => {
    const written: string[] = [];
    const logger = await createLogger(
      'info',
      createOutput({ isTTY, write: (text) => written.push(text) }),
    );

    logger.error({ err: new Error(hostile), value: hostile }, hostile);

    const text = written.join('');
    expect(text).toContain('hidden');
    // Without the colours of the log itself.
    expect(text.replaceAll(/\p{Cc}\[\d\d?m/gu, '')).not.toMatch(controlling);
    expect(text).not.toContain('\u001b[31;8m');
    if (!isTTY) expect(JSON.parse(text).value).toBe(hostile);
  });
});
