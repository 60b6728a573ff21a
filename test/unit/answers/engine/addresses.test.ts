import { expect, it } from 'vitest';
import { keyOf } from '../../../../src/answers/corpus/corpus.ts';
import { createAddresses } from '../../../../src/answers/engine/extractive-engine.ts';

const own = { name: 'perch', root: '/perch', baseUrl: 'https://x.example/read' };
const plain = { name: 'notes', root: '/notes' };
const keys = { corpus: keyOf(own), path: 'docs/keys.md' };
const boats = { corpus: keyOf(plain), path: 'guide/boats.md' };

it.each([
  ['[a](errors.md)', '[a](https://x.example/read/docs/errors)'],
  ['[a\nb](errors.md#not_ready)', '[a\nb](https://x.example/read/docs/errors#not_ready)'],
  ['[`a`](#limits)', '[`a`](https://x.example/read/docs/keys#limits)'],
  ['[a](/openapi.json)', '[a](https://x.example/read/openapi.json)'],
  ['[a](https://y.example/z#b)', '[a](https://y.example/z#b)'],
  ['[a](mailto:a@y.example)', '[a](mailto:a@y.example)'],
  ['[a](contract/sessions.md), [b](../CHANGELOG.md)', 'a, b'],
  ['[a](../../../etc/passwd)', 'a'],
  ['Write `[a](errors.md)` or ``[a`](b.md)``.', 'Write `[a](errors.md)` or ``[a`](b.md)``.'],
])('makes links in the documentation of Perch absolute: %j', (markdown, resolved) => {
  expect(createAddresses([own]).resolveLinks(markdown, keys)).toBe(resolved);
});

it.each([
  ['[a](ropes.md#knots)', '[a](guide/ropes.md#knots)'],
  ['[a](../README.md)', '[a](README.md)'],
  ['[a](#rent)', '[a](guide/boats.md#rent)'],
  ['[a](../../x.md)', 'a'],
])('makes links in other documents paths in their corpus: %j', (markdown, resolved) => {
  expect(createAddresses([plain]).resolveLinks(markdown, boats)).toBe(resolved);
});

it('adds the name of the corpus to a link if there are several', () => {
  const addresses = createAddresses([plain, { ...plain, name: 'other', root: '/other' }]);

  expect(addresses.resolveLinks('[a](ropes.md)', boats)).toBe('[a](notes/guide/ropes.md)');
});

it('returns URLs only for sections with a page', () => {
  const { toUrl } = createAddresses([own, plain]);

  expect(toUrl(keys, 'Get a key?')).toBe('https://x.example/read/docs/keys#get-a-key');
  expect(toUrl(keys, '')).toBe('https://x.example/read/docs/keys');
  expect(toUrl({ ...keys, path: 'CONTRIBUTING.md' }, 'Tests')).toBeNull();
  expect(toUrl(boats, 'Rent')).toBeNull();
});
