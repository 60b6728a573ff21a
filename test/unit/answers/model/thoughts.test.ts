import { describe, expect, it } from 'vitest';
import { createThoughtFilter } from '../../../../src/answers/model/thoughts.ts';

describe('what a model thinks aloud', () => {
  it.each([
    ['At six [1].', 'At six [1].'],
    ['<think>Is it six?</think>At six [1].', 'At six [1].'],
    ['\n<think>\nIs it < six?\n</think>\n\nAt six <b>[1].', 'At six <b>[1].'],
    ['<think>For ever', ''],
    ['<thing> at six', '<thing> at six'],
    ['At six <think>no</think>', 'At six <think>no</think>'],
  ])('is left out of %j', (text, said) => {
    for (const length of [1, 3, text.length]) {
      const filter = createThoughtFilter();
      const pieces = text.match(new RegExp(`.{1,${length}}`, 'gs')) ?? [];
      expect(pieces.map(filter).join('').trim()).toBe(said);
    }
  });
});
