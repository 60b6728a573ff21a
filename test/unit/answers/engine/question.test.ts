import { describe, expect, it } from 'vitest';
import { resolveFollowUp } from '../../../../src/answers/engine/follow-up.ts';
import { toParts } from '../../../../src/answers/engine/query.ts';
import { toPlainHeading } from '../../../../src/answers/readers/markdown.ts';
import { readVocabulary } from '../../../../src/answers/text/words.ts';
import { editDistance } from '../../../../src/lib/suggest.ts';
import { toSlug } from '../../../../src/lib/text.ts';

const vocabulary = readVocabulary();

it.each([
  ['How do I log in, and how do I list users?', ['How do I log in', 'how do I list users?']],
  ['resize an image and rotate a video', ['resize an image', 'rotate a video']],
  [
    'What is a plugin? Where are hooks documented?',
    ['What is a plugin?', 'Where are hooks documented?'],
  ],
  ['start and stop the server', []],
  ['search and replace', []],
  ['how do I write logs to a file', []],
  ['', []],
])('toParts splits %j', (question, parts) => {
  expect(toParts(question, vocabulary)).toEqual(parts);
});

describe('resolveFollowUp', () => {
  const earlier = [
    {
      question: 'what is the body limit',
      answer: '',
      citations: [{ path: 'a.md', heading: '', line: 1, endLine: 1, score: 1 }],
    },
    { question: 'and its default?', answer: '', citations: [] },
  ];

  it.each(['why is that?', 'and on Windows?', 'on Windows?', 'how do I turn it off again?'])(
    'takes the topic of %j from the last question that is not a follow-up',
    (text) => {
      expect(resolveFollowUp({ text, earlier }, '', vocabulary).topic).toBe('body limit');
    },
  );

  it.each(['how do I import an archive', 'is there a limit of the headers'])(
    'takes %j for a question of its own',
    (text) => {
      expect(resolveFollowUp({ text, earlier }, '', vocabulary)).toEqual({ topic: '', cited: [] });
    },
  );

  it('has no topic in a first question', () => {
    expect(resolveFollowUp({ text: 'why is that?', earlier: [] }, '', vocabulary)).toEqual({
      topic: '',
      cited: [],
    });
  });

  it('takes the topic from the other sentences of the message before that of earlier questions', () => {
    expect(resolveFollowUp({ text: 'why?', earlier }, 'I use nginx.', vocabulary)).toEqual({
      topic: 'nginx',
      cited: [],
    });
  });

  it('returns what the previous turn cited', () => {
    expect(
      resolveFollowUp({ text: 'and its default?', earlier: earlier.slice(0, 1) }, '', vocabulary)
        .cited,
    ).toEqual(earlier[0]?.citations);
  });
});

it.each([
  ['tset', 'test', 1],
  ['conection', 'connection', 1],
  ['authentcaton', 'authentication', 2],
  ['server', 'serve', 1],
  ['', 'ab', 2],
  ['completely', 'different', 3],
])('counts from %j to %j an edit distance of %i, up to three', (a, b, steps) => {
  expect(editDistance(a, b, 2)).toBe(steps);
});

it.each([
  ['Stop Conditions', 'stop-conditions'],
  ['`maxRetries`', 'maxretries'],
  ['[`npm ci`](/commands/npm-ci)', 'npm-ci'],
  ['What is it? (v2)', 'what-is-it-v2'],
  ['Über uns', 'über-uns'],
])('converts the heading %j to the slug %j', (heading, slug) => {
  expect(toSlug(toPlainHeading(heading))).toBe(slug);
});

it('finds phrases, longest first, and returns the remaining text', () => {
  const { rest, found } = vocabulary.takePhrases(
    'How many times is it tried  again, and how many?',
  );

  expect(found.map(({ text }) => text)).toEqual(['how many times', 'tried again', 'how many']);
  expect(rest.replaceAll(/[\s…]+/g, ' ').trim()).toBe('is it , and ?');
});

it('finds synonyms in both directions, but never the word itself', () => {
  const { synonyms } = vocabulary;

  expect(synonyms('delet')).toContain('remov');
  expect(synonyms('remov')).toContain('delet');
  expect(synonyms('delet')).not.toContain('delet');
  expect(synonyms('xyzzy')).toEqual([]);
});

it('maps everyday words to technical ones, but not the reverse', () => {
  const { everyday } = vocabulary;

  expect(everyday('spinner')).toContain('load');
  expect(everyday('load')).not.toContain('spinner');
  expect(everyday('xyzzy')).toEqual([]);
});
