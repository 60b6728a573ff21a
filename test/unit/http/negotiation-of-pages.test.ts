import { describe, expect, it } from 'vitest';
import { negotiatePage } from '../../../src/http/negotiation.ts';

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
  ])('is, whatever the default, for %j: %s', (accept, expected) => {
    const chosen = (['html', 'markdown'] as const).map((other) => negotiatePage(accept, other));

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
    const chosen = (['html', 'markdown'] as const).map((other) => negotiatePage(accept, other));

    expect(chosen).toEqual(['html', 'markdown']);
  });
});
