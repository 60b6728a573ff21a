import { describe, expect, it } from 'vitest';
import { renderHeading, renderText } from '../../../src/render/markdown/text.ts';
import { fc } from '../../support/fast-check.ts';
import {
  expectedText,
  hostileLine,
  hostileText,
  parseMarkdown,
  runs,
  textsWithin,
  tokenTypes,
  visibleText,
} from '../../support/render-markdown.ts';

const url = 'https://site.example/a(b) c?d=1&copy;=2';

describe('a text without annotations', () => {
  it('keeps its paragraphs, line breaks and bare links', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const markdown = renderText(text, []);

        expect(visibleText(markdown)).toBe(expectedText(text));
        expect(paragraphTypes).toEqual(expect.arrayContaining([...tokenTypes(markdown)]));
        for (const link of links(markdown)) expect(text).toContain(decodeParentheses(link));
      }),
      runs,
    );
  });

  it.each([
    ['snake_case and 2 * 3 * 4', 'snake_case and 2 * 3 * 4'],
    ['[1/5] A thread', '[1/5] A thread'],
    ['I <3 R&D, a < b > c', 'I <3 R&D, a < b > c'],
    ['$AAPL and $TSLA cost ~5', '$AAPL and $TSLA cost ~5'],
    ['#1 reason: 100% (really!)', '#1 reason: 100% (really!)'],
    ['C:\\new, one `tick', 'C:\\new, one `tick'],
    ['if a == b or c == d', 'if a == b or c == d'],
    ['*Terms apply', '*Terms apply'],
    ['Next.js, e.g. v1.5, at 9 p.m.', 'Next.js, e.g. v1.5, at 9 p.m.'],
    ['me @ home, @ada and (@bo.example)', 'me @ home, @ada and (@bo.example)'],
    ['and/or // and so on', 'and/or // and so on'],
  ])('does not escape %j', (text, expected) => {
    expect(renderText(text, [])).toBe(expected);
  });

  it.each([
    ['*cough*', '\\*cough\\*'],
    ['1. one', '1\\. one'],
    ['# one', '\\# one'],
    ['<b>one</b>', '&lt;b>one&lt;/b>'],
    ['www.a.b/<img src=x onerror=y>', 'www\\.a.b/&lt;img src=x onerror=y>'],
    ['ftp://a.example and //a.example', 'ftp:\\//a.example and \\//a.example'],
    ['mail a@b.example, @ada@b.example', 'mail a\\@b.example, @ada\\@b.example'],
    ['at heron.com and a.b.org/c', 'at heron\\.com and a.b\\.org/c'],
    ['[a](b)', '\\[a](b)'],
    ['a\n---', 'a  \n\\---'],
    ['$a$ and ==b==', '\\$a\\$ and \\=\\=b\\=\\='],
    ['%%hidden%%', '\\%\\%hidden\\%\\%'],
    ['  two\n\tfour', '\u00a0\u00a0two  \n\u00a0\u00a0\u00a0\u00a0four'],
    ['a\r\nb\rc\u2028d', 'a  \nb  \nc  \nd'],
    ['a\u0000b\u001b[0m', 'ab[0m'],
    ['a\n\n \n\nb', 'a\n\nb'],
    ['half \ud83d emoji', 'half \ufffd emoji'],
  ])('escapes %j', (text, expected) => {
    expect(renderText(text, [])).toBe(expected);
  });

  it.each([
    ['see https://a.example/b.', 'see <https://a.example/b>.'],
    ['(https://a.example/b_(c))', '(<https://a.example/b_(c)>)'],
    ['これhttps://a.example/bを見て', 'これ<https://a.example/b>を見て'],
    [
      'https://a.example/?x=1&copy;=2',
      '[https:\\//a.example/?x=1&amp;copy;=2](https://a.example/?x=1&amp;copy;=2)',
    ],
    ['https:// and http://.', 'https:// and http://.'],
  ])('links the bare URL in %j', (text, expected) => {
    expect(renderText(text, [])).toBe(expected);
  });
});

const types = [
  'link',
  'mention',
  'hashtag',
  'symbol',
  'bold',
  'italic',
  'strikethrough',
  'code',
] as const;

const marks = fc.array(
  fc.record({
    type: fc.constantFrom(...types),
    start: fc.integer({ min: -1, max: 30 }),
    end: fc.integer({ min: -1, max: 34 }),
    url: fc.constantFrom(url, 'javascript:alert(1)', 'mailto:x@y.example', 'http://x.example/"`>'),
  }),
  { maxLength: 6 },
);

describe('a text with annotations', () => {
  it('keeps its text with any annotations', () => {
    fc.assert(
      fc.property(hostileText, marks, (text, given) => {
        const markdown = renderText(text, given);

        expect(visibleText(markdown)).toBe(expectedText(text));
        expect(tokenTypes(markdown)).not.toContain('html_inline');
        expect(markedTypes).toEqual(expect.arrayContaining([...tokenTypes(markdown)]));
        for (const link of links(markdown)) expect(link).toMatch(/^(?:https?:\/\/|mailto:)/);
      }),
      runs,
    );
  });

  it('formats exactly the annotated words', () => {
    const words = fc
      .array(fc.constantFrom('ab', 'c', ' ', '字', 'я'), { minLength: 1, maxLength: 12 })
      .map((chosen) => chosen.join(''));
    const styles = { bold: 'strong', italic: 'em', strikethrough: 's' } as const;
    fc.assert(
      fc.property(
        words,
        fc.constantFrom(...(['bold', 'italic', 'strikethrough'] as const)),
        fc.nat(12),
        fc.nat(12),
        (text, type, start, length) => {
          const markdown = renderText(text, [{ type, start, end: start + length }]);
          const inRange = start + length <= text.length;
          const marked = inRange ? text.slice(start, start + length).trim() : '';

          expect(textsWithin(markdown, styles[type])).toEqual(marked === '' ? [] : [marked]);
        },
      ),
      runs,
    );
  });

  const mark = (type: (typeof types)[number], start: number, end: number, to?: string) =>
    to === undefined ? { type, start, end } : { type, start, end, url: to };

  it.each([
    [
      'a link',
      'see here now',
      [mark('link', 4, 8, url)],
      'see [here](https://site.example/a%28b%29%20c?d=1&amp;copy;=2) now',
    ],
    [
      'a link that shows its URL',
      'see a.example/b',
      [mark('link', 4, 15, 'https://a.example/b')],
      'see <https://a.example/b>',
    ],
    [
      'a link of an unsafe kind',
      'see here',
      [mark('link', 4, 8, 'javascript:alert(1)')],
      'see here',
    ],
    [
      'a mention',
      'hi @my_name_',
      [mark('mention', 3, 12, 'https://a.example/n')],
      'hi [@my_name_](https://a.example/n)',
    ],
    ['a mention without a URL', 'hi @ada', [mark('mention', 3, 7)], 'hi @ada'],
    ['spaces at the edges', 'a b c', [mark('bold', 1, 4)], 'a **b** c'],
    ['nested styles', 'bold both', [mark('bold', 0, 9), mark('italic', 5, 9)], '**bold _both_**'],
    ['one style twice', 'abcd', [mark('bold', 0, 2), mark('bold', 2, 4)], '**abcd**'],
    ['styles that cross', 'abcdef', [mark('bold', 0, 4), mark('italic', 2, 6)], '**abcd**ef'],
    ['italics within a word', 'unbelievable', [mark('italic', 2, 9)], 'un*believa*ble'],
    ['Japanese quotation marks', '彼は「太字」です', [mark('bold', 2, 6)], '彼は「**太字**」です'],
    ['a style over lines', 'ab\n\ncd', [mark('bold', 0, 6)], '**ab**\n\n**cd**'],
    ['code with backticks', 'run a`b', [mark('code', 4, 7)], 'run ``a`b``'],
    [
      'an exclamation before a link',
      'oh!here',
      [mark('link', 3, 7, 'https://a.example')],
      'oh\\![here](https://a.example)',
    ],
    [
      'offsets in code points',
      '😀😀 tag',
      [mark('hashtag', 3, 6, 'https://a.example/t')],
      '😀😀 [tag](https://a.example/t)',
    ],
    ['a range past the end', 'ab', [mark('bold', 0, 9)], 'ab'],
  ])('renders %s', (_name, text, given, expected) => {
    expect(renderText(text, given)).toBe(expected);
  });
});

it('a heading shows its text on one line', () => {
  fc.assert(
    fc.property(hostileLine, (line) => {
      const tokens = parseMarkdown(`## ${renderHeading(line, [])}`);

      expect(tokens[0]?.type).toBe('heading_open');
      expect(tokens.map((token) => token.content).join('')).toBe(line);
      expect(tokens.filter((token) => token.type.startsWith('html'))).toEqual([]);
    }),
    runs,
  );
});

const paragraphTypes = [
  'paragraph_open',
  'paragraph_close',
  'text',
  'text_special',
  'hardbreak',
  'link_open',
  'link_close',
];
const markedTypes = [
  ...paragraphTypes,
  ...['strong', 'em', 's'].flatMap((kind) => [`${kind}_open`, `${kind}_close`]),
  'code_inline',
];

function links(markdown: string): readonly string[] {
  return parseMarkdown(markdown)
    .filter((token) => token.type === 'link_open')
    .map((token) => String(token.attrGet('href')));
}

function decodeParentheses(link: string): string {
  return link.replaceAll('%28', '(').replaceAll('%29', ')');
}
