import { describe, expect, it } from 'vitest';
import type { PromptPassage } from '../../../../src/answers/answer.ts';
import { CitedText } from '../../../../src/answers/llm/cited-text.ts';
import { fc } from '../../../support/fast-check.ts';

const passage = (number: number): PromptPassage => ({
  id: number,
  citation: { path: `p${number}.md`, heading: '', line: number, endLine: number, score: 1 },
  trail: [],
  text: number === 1 ? `Text.\n\n\`\`\`sh\nrow[9]\nx\n  y --z\n\`\`\`` : `Text ${number}.\n\nw()`,
});
const quoted = [1, 2, 3, 4, 5, 6].map(passage);
const promptText =
  'See https://docs.example/a, [more](../more.md) and p9.md#x:1 or p9.md#x:123. `row[9] + row[8]` or `a `b`. `MAX`';

async function addText(text: string, length = text.length) {
  const pieces: string[] = [];
  const cited = new CitedText({
    quoted,
    promptText,
    secret: 'sk-123',
    isCurrent: async ({ id }) => id !== 4,
    onText: (piece) => pieces.push(piece),
  });
  for (const piece of text.match(new RegExp(`[^]{1,${Math.max(1, length)}}`, 'g')) ?? []) {
    if (cited.state === 'open') await cited.add(piece);
  }
  await cited.finish();
  expect(pieces.join('')).toBe(cited.shown);
  return { shown: cited.shown, state: cited.state, paths: cited.citations.map(({ path }) => path) };
}

describe('CitedText', () => {
  it.each([
    ['At six [1].', 'At six (`p1.md:1`).'],
    ['  At six[1], “green” [2]!', 'At six (`p1.md:1`), “green” (`p2.md:2`)!'],
    ['At six [2][1][2].', 'At six (`p2.md:2`, `p1.md:1`).'],
    ['[1] At six. [2] Green', '(`p1.md:1`) At six. (`p2.md:2`)'],
    ['- a [1]\n- b [2]\n- c', '- a (`p1.md:1`)\n- b (`p2.md:2`)'],
    ['First.\n\nSecond [1].\n\nA guess.', 'Second (`p1.md:1`).'],
    ['Run [1]:\n\n```sh\nrow[9]\n```\n\nGood luck!', 'Run (`p1.md:1`):\n\n```sh\nrow[9]\n```'],
    ['Run [1]:\n```sh\nx\n```\n```sh\ny', 'Run (`p1.md:1`):\n```sh\nx\n```'],
    ['These [1]:\n\n- a\n- b\n\nBye.', 'These (`p1.md:1`):\n\n- a\n- b'],
    ['These [1].\n\n- a\n- b', 'These (`p1.md:1`).'],
    ['| a [1] | b [2] |\n| c | d |', '| a (`p1.md:1`) | b (`p2.md:2`) |'],
    ['At six [1].\n\n**Sources:**\n\n[2] p2.md', 'At six (`p1.md:1`).'],
    ['At six [1]. NOT_ANSWERED', 'At six (`p1.md:1`).'],
    ['See https://docs.example/a. [1]', 'See https://docs.example/a. (`p1.md:1`)'],
    [
      'See [more](../more.md) and `p9.md#x:1` [1]',
      'See [more](../more.md) and `p9.md#x:1` (`p1.md:1`)',
    ],
    ['Take `row[9] + row[8]` or `a [1].', 'Take `row[9] + row[8]` or `a (`p1.md:1`).'],
    ['At six (`p2.md:2`). Green [p1.md:1].', 'At six (`p2.md:2`). Green (`p1.md:1`).'],
    ['A\u001b[2Jbell\u0007 [1].\r\n', 'A[2Jbell (`p1.md:1`).'],
  ])('converts %j to %j, however the text is split', async (text, shown) => {
    for (const length of [1, 2, 5, text.length]) {
      expect((await addText(text, length)).shown).toBe(shown);
    }
  });

  it.each([
    ['Sure! Here it is: At six [1].', 'Here it is: At six (`p1.md:1`).'],
    ['At six [1]. I guess so. It is green [2].', 'At six (`p1.md:1`). It is green (`p2.md:2`).'],
    ['At six. [1] I guess so. It is green. [2]', 'At six. (`p1.md:1`) It is green. (`p2.md:2`)'],
    [
      'Two ways:\n\n- A guess.\n- Run it. Then wait [1].\n- Or not [2]',
      '- Then wait (`p1.md:1`).\n- Or not (`p2.md:2`)',
    ],
    ['A [1].\n\nA guess.\n\n1. B [2]', 'A (`p1.md:1`).\n\n1. B (`p2.md:2`)'],
    ['Set it, e.g. Tuesday [1].', 'Set it, e.g. Tuesday (`p1.md:1`).'],
    ['Since v1.2. Set `MAX` to `2. X` [1].', ''],
    [
      '| a | b |\n| - | - |\n| c | d |\n| e | f [1] |',
      '| a | b |\n| - | - |\n| e | f (`p1.md:1`) |',
    ],
    ['# Limits\n\nAt six [1].', 'At six (`p1.md:1`).'],
  ])('shows only the sentences with a citation of %j: %j', async (text, shown) => {
    for (const length of [1, 3, text.length]) {
      if (shown === '')
        await expect(addText(text, length)).rejects.toMatchObject({ code: 'model_uncited' });
      else expect((await addText(text, length)).shown).toBe(shown);
    }
  });

  it.each([
    [
      'At six [1]. Set `MADE_UP` to 3 [2]: so. Green [2].',
      'At six (`p1.md:1`). Green (`p2.md:2`).',
    ],
    ['Set `MAX` [1].', 'Set `MAX` (`p1.md:1`).'],
    ['Run [1]:\n\n```sh\nx\ny --z\n```\n', 'Run (`p1.md:1`):\n\n```sh\nx\ny --z\n```'],
    ['Run:\n\n```sh\nx\n```\n[1] So', '```sh\nx\n```\n(`p1.md:1`)'],
    ['```sh\nrm -rf\n```\n\nAt six [1].', 'At six (`p1.md:1`).'],
    ['Run `made_up` [1]:\n\n```sh\nx\n```\n\nGreen [2].', 'Green (`p2.md:2`).'],
  ])('shows only code of the passages in %j', async (text, shown) => {
    for (const length of [1, 3, text.length]) {
      expect((await addText(text, length)).shown).toBe(shown);
    }
  });

  it.each([
    ['model_miscited', 'Run [1]:\n\n```sh\nmade --up\n```\n\nGreen [2].'],
    ['model_miscited', 'Run [1]:\n\n```sh\ny --z\nw()\n```'],
    ['model_uncited', 'Get `http://made.up` [1]'],
    ['model_miscited', 'At six [7].'],
    ['model_miscited', 'At six [1]. Green [0].'],
    ['model_miscited', 'At six [4].'],
    ['model_miscited', 'At six [1]. See https://made.up/x [2].'],
    ['model_miscited', '![x](//made.up/?q=1) [1].'],
    ['model_miscited', 'At six [1]:\n\n- see https://made.up'],
    ['model_miscited', 'As `p9.md#y:2` says [1].'],
    ['model_miscited', 'As `p9.md#x:12` says [1].'],
    ['model_uncited', 'At six `p2.md:23`.'],
    ['model_uncited', 'At six.'],
    ['model_uncited', 'Call `row[1]`.'],
    ['model_uncited', 'Words and words. '.repeat(200)],
    ['model_failed', ' \n'],
    ['model_failed', 'The key is sk-123 [1].'],
  ])('throws %s for %j', async (code, text) => {
    for (const length of [1, 7, text.length]) {
      await expect(addText(text, length)).rejects.toMatchObject({ code });
    }
  });

  it('abstains if the text is only the marker', async () => {
    expect(await addText('NOT_ANSWERED', 3)).toEqual({ shown: '', state: 'abstained', paths: [] });
    expect((await addText('Sorry, NOT_ANSWERED here.')).state).toBe('abstained');
  });

  it('ends before a sixth source', async () => {
    const more = [...quoted, passage(7)];
    const cited = new CitedText({
      quoted: more,
      promptText,
      secret: undefined,
      isCurrent: async () => true,
      onText: () => {},
    });

    for (const { id } of more) await cited.add(`Fact ${id} [${id}]. More of `);

    expect(cited.state).toBe('full');
    expect(cited.citations).toHaveLength(5);
    expect(cited.shown).toMatch(/Fact 5 \(`p5\.md:5`\)$/);
  });

  it('never sends a number, a secret or too much text for any input', async () => {
    const word = fc.constantFrom(
      ...['six ', '[1]', '[2, 3]', '[9]', '`', '```', '\n', '\n\n', '- ', ':', '. ', '](', ')'],
      ...['| ', 'https://made.up ', 'sk-1', '23', 'NOT_', 'ANSWERED', 'Sources:\n', '<', '【3†x】'],
      'a '.repeat(300),
    );
    const tellAll = async (cited: CitedText, words: readonly string[]) => {
      try {
        for (const piece of words) if (cited.state === 'open') await cited.add(piece);
        await cited.finish();
      } catch (error) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^model_/) });
      }
    };
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 60 }), async (words) => {
        const pieces: string[] = [];
        const onText = (piece: string) => pieces.push(piece);
        const options = {
          quoted,
          promptText,
          secret: 'sk-123',
          isCurrent: async () => true,
          onText,
        };
        const cited = new CitedText(options);

        await tellAll(cited, words);

        const shown = pieces.join('');
        expect(cited.shown).toBe(shown);
        expect(shown.length).toBeLessThan(4000);
        expect(shown).not.toContain('sk-123');
        // Text is only sent together with its source.
        expect(shown === '').toBe(cited.citations.length === 0);
        for (const { path } of cited.citations) expect(shown).toContain(`\`${path}:`);
      }),
    );
  });
});
