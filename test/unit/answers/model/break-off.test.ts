import { describe, expect, it } from 'vitest';
import type { Answer, Citation } from '../../../../src/answers/answer.ts';
import { printSources } from '../../../../src/answers/engine/compose.ts';
import { continueBrokenOff } from '../../../../src/answers/model/break-off.ts';

const cite = (path: string, line = 1): Citation => ({
  path,
  heading: '',
  line,
  endLine: line,
  score: 1,
});
const answerOf = (body: string, citations: readonly Citation[]): Answer => ({
  text: `${body}\n\n${printSources(citations)}`,
  citations,
  abstained: false,
  finishReason: 'stop',
});

describe('an answer that goes on without the model', () => {
  it('has the sources of both, each section once, five at most', () => {
    const before = { shown: 'Said.', citations: [cite('a.md'), cite('b.md')] };
    const others = ['c.md', 'd.md', 'e.md', 'f.md'].map((path) => cite(path));

    const answer = continueBrokenOff(before, answerOf('Told.', [cite('b.md', 7), ...others]));

    expect(answer.citations.map(({ path }) => path)).toEqual([
      'a.md',
      'b.md',
      'c.md',
      'd.md',
      'e.md',
    ]);
    expect(answer.text).toBe(
      `Said.\n\nThe answer of the language model broke off here. The documentation says:\n\nTold.\n\n${printSources(answer.citations)}`,
    );
    expect(answer).toMatchObject({ abstained: false, finishReason: 'stop' });
  });

  it.each([500, 2000, 3500, 3800])('fits in 4,000 characters after %i', (length) => {
    const before = { shown: 'x'.repeat(length), citations: [cite('a.md')] };

    const answer = continueBrokenOff(before, answerOf('word '.repeat(780), [cite('b.md')]));

    expect(answer.text.length).toBeLessThanOrEqual(4000);
    expect(answer.finishReason).toBe('length');
    expect(answer.text).toMatch(/^x+\n\nThe answer of the language model broke off here\./);
    expect(answer.text.endsWith(printSources(answer.citations))).toBe(true);
  });

  it('says only that it broke off where the documentation does not answer', () => {
    const before = { shown: 'Said.', citations: [cite('a.md')] };
    const declined: Answer = {
      text: 'The documentation does not seem to answer this.\n',
      citations: [],
      abstained: true,
      finishReason: 'stop',
    };

    const { text, ...rest } = continueBrokenOff(before, declined);

    expect(text).toBe(
      'Said.\n\nThe answer of the language model broke off here.\n\nSources:\n\n- `a.md:1`\n',
    );
    expect(rest).toEqual({ citations: [cite('a.md')], abstained: false, finishReason: 'stop' });
  });
});
