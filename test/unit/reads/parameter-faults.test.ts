import { expect, it } from 'vitest';
import { problemKinds } from '../../../src/lib/problem.ts';
import { allReads } from '../../../src/reads/index.ts';
import { faultOf } from '../../../src/reads/parameters.ts';

/** Parameters that accept words and have their own problem code. */
const choices = Object.values(allReads).flatMap(({ name: read, params }) =>
  Object.entries(params.shape)
    .map(([name, schema]) => ({ read, name, ...faultOf(schema) }))
    .filter(({ code, accepts }) => accepts.includes('`') && code !== 'invalid_option'),
);

const wordsIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, word]) => word);

it('finds parameters to test', () => {
  const codes = new Set(choices.map(({ code }) => code));

  expect([...codes].sort()).toEqual([
    'invalid_context',
    'invalid_feed',
    'invalid_format',
    'invalid_replies',
    'invalid_thread',
    'invalid_userinfo',
  ]);
});

it.each(choices)('names the same values of $name of $read in detail and resolution', (choice) => {
  const named = wordsIn(problemKinds[choice.code].resolution).filter(
    (word) => word !== choice.name && word !== 'detail',
  );

  // The words of some parameters differ between reads, so their resolution refers to the detail.
  const differs = ['invalid_format', 'invalid_replies'].includes(choice.code);
  expect(named).toEqual(differs ? [] : wordsIn(choice.accepts));
});
