import { describe, expect, it } from 'vitest';
import { asksForMarkdown } from '../../../src/http/negotiation.ts';

describe('a document that is JSON to everybody', () => {
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
  ])('is Markdown for Accept %j: %s', (accept, expected) => {
    expect(asksForMarkdown(accept)).toBe(expected);
  });
});
