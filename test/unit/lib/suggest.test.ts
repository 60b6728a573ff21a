import { expect, it } from 'vitest';
import { nearestName } from '../../../src/lib/suggest.ts';
import { fc } from '../../support/fast-check.ts';

const names = ['read', 'search', 'serve', 'sessions', 'archive', 'with-replies', 'x'];

it.each([
  ['reed', 'read'],
  ['raed', 'read'],
  ['rea', 'read'],
  ['readd', 'read'],
  ['serach', 'search'],
  ['Serve', 'serve'],
  ['servr', 'serve'],
  ['sesions', 'sessions'],
  ['with-replys', 'with-replies'],
  ['fly', undefined],
  ['re', undefined],
  ['y', undefined],
  ['', undefined],
  ['archbishop', undefined],
  ['a'.repeat(100_000), undefined],
])('corrects %s to %s', (word, name) => {
  expect(nearestName(word, names)).toBe(name);
});

it('counts one letter added, dropped, changed or swapped', () => {
  const word = fc.stringMatching(/^[a-z]{5,12}$/);
  fc.assert(
    fc.property(
      word,
      fc.nat(),
      fc.constantFrom('add', 'drop', 'change', 'swap'),
      (name, at, how) => {
        const index = at % (name.length - 1);
        const [before, letter = '', next = ''] = [
          name.slice(0, index),
          name[index],
          name[index + 1],
        ];
        const edits = {
          add: `${before}-${name.slice(index)}`,
          drop: `${before}${name.slice(index + 1)}`,
          change: `${before}-${name.slice(index + 1)}`,
          swap: `${before}${next}${letter}${name.slice(index + 2)}`,
        };
        expect(nearestName(edits[how], [name])).toBe(name);
      },
    ),
  );
});
