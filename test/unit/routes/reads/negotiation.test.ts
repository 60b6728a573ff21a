import { describe, expect, it } from 'vitest';
import { negotiate, offers } from '../../../../src/routes/reads/negotiation.ts';

it.each([
  ['text/markdown', true],
  ['TEXT/Markdown; charset=utf-8', true],
  ['text/x-markdown', true],
  ['text/markdown, */*;q=0.8', true],
  ['text/markdown, application/json;q=0.9', true],
  ['text/markdown, application/json', true],
  ['text/markdown;q=0.5, text/html', true],
  [undefined, false],
  ['', false],
  ['*/*', false],
  ['text/*', false],
  ['text/html', false],
  ['text/plain', false],
  ['application/json', false],
  ['application/json, text/markdown', false],
  ['application/json, text/markdown;q=0.9', false],
  ['application/*, text/markdown;q=0.9', false],
  ['text/markdown;q=0', false],
  ['text/markdown;q=0.5, */*', false],
  ['text/markdown;q=high', false],
  ['nothing/markdown', false],
])('a document whose default is JSON is Markdown for Accept %j: %s', (accept, expected) => {
  expect(negotiate(accept, offers.apiIndex) === 'markdown').toBe(expected);
});

const chrome = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

describe('the format of a page', () => {
  it.each([
    [chrome, 'html'],
    ['text/html', 'html'],
    ['application/xhtml+xml', 'html'],
    ['text/markdown', 'markdown'],
    ['text/x-markdown', 'markdown'],
    ['TEXT/Markdown; variant=GFM', 'markdown'],
    ['text/markdown, text/html;q=0.9', 'markdown'],
    ['text/markdown;q=0.5, text/html', 'html'],
    ['text/markdown, */*;q=0.1', 'markdown'],
    ['text/markdown, */*', 'markdown'],
    ['*/*, text/html', 'html'],
    ['text/html, text/markdown', 'html'],
    ['text/markdown, text/html', 'markdown'],
    ['text/html;q=0, */*', 'markdown'],
    ['text/markdown;q=0, */*', 'html'],
  ])('is independent of the default for %j: %s', (accept, expected) => {
    const chosen = [offers.docs, offers.frontPage].map((both) => negotiate(accept, both));

    expect(chosen).toEqual([expected, expected]);
  });

  it.each([
    undefined,
    '',
    '*/*',
    'text/*',
    'application/json',
    'image/png',
    'nonsense;;;,,,=',
    'text/html;q=0',
  ])('is the default for %j', (accept) => {
    const chosen = [offers.docs, offers.frontPage].map((both) => negotiate(accept, both));

    expect(chosen).toEqual(['html', 'markdown']);
  });
});
