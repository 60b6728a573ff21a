import { describe, expect, it } from 'vitest';
import { renderParagraphs } from '../../../src/render/html/text.ts';
import { fc } from '../../support/fast-check.ts';
import {
  findUnsafe,
  hostileHtml,
  hostileUrl,
  parseHtml,
  squeeze,
  visibleText,
} from '../../support/render-html.ts';
import { runs } from '../../support/render-markdown.ts';
import { facet } from '../../support/render-posts.ts';

const start = '<p dir="auto">';
const rel = 'rel="nofollow noopener noreferrer"';

describe('a text as HTML', () => {
  it.each([
    ['one\ntwo\n\n \nthree', `${start}one<br />\ntwo</p>\n${start}three</p>`],
    ['a\r\nb\u2028c', `${start}a<br />\nb<br />\nc</p>`],
    ['  two\n\tfour', `${start}\u00a0\u00a0two<br />\n\u00a0\u00a0\u00a0\u00a0four</p>`],
    ['<b> & "q"', `${start}&lt;b&gt; &amp; &quot;q&quot;</p>`],
    ['a\0b\u001b[0m half \ud83d, none \ufffe', `${start}ab[0m half \ufffd, none \ufffd</p>`],
    [
      'see https://a.example/b.',
      `${start}see <a href="https://a.example/b" ${rel}>https://a.example/b</a>.</p>`,
    ],
    [' \n\n ', ''],
    ['', ''],
  ])('renders %j', (text, html) => {
    expect(renderParagraphs(text, [])).toBe(html);
  });

  it('marks styles and links, nested and across lines and paragraphs', () => {
    const text = 'all bold\n\nand a tag #fog x_y';
    const marks = [
      { type: 'bold', start: 4, end: 15 } as const,
      facet(text, '#fog', 'hashtag', 'https://a.example/tags/fog?a=1&b="'),
      facet(text, '#fog', 'italic'),
      facet(text, 'x_y', 'code'),
      facet(text, 'a tag', 'strikethrough'),
    ];

    expect(renderParagraphs(text, marks)).toBe(
      `${start}all <strong>bold</strong></p>\n${start}<strong>and a</strong> tag <em>` +
        `<a href="https://a.example/tags/fog?a=1&amp;b=%22" ${rel}>#fog</a></em> <code>x_y</code></p>`,
    );
  });

  it.each([
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    '//a.example',
    'https://[',
  ])('does not link %j', (url) => {
    expect(renderParagraphs('word', [{ type: 'link', start: 0, end: 4, url }])).toBe(
      `${start}word</p>`,
    );
  });

  it.each([
    ['pt-BR', '<p lang="pt-BR" dir="auto">'],
    ['und', start],
    ['zxx', start],
    ['qme', start],
    ['" onclick="x', start],
  ])('sets the language %j only if it is valid', (lang, tag) => {
    expect(renderParagraphs('word', [], { lang })).toBe(`${tag}word</p>`);
  });

  it('contains exactly the text, for any annotations', () => {
    const mark = fc.record({
      type: fc.constantFrom('link', 'mention', 'bold', 'italic', 'strikethrough', 'code'),
      start: fc.integer({ min: -2, max: 40 }),
      end: fc.integer({ min: -2, max: 40 }),
      url: hostileUrl,
    });
    fc.assert(
      fc.property(hostileHtml, fc.array(mark, { maxLength: 6 }), (text, marks) => {
        const parsed = parseHtml(renderParagraphs(text, marks));

        expect(findUnsafe(parsed)).toEqual([]);
        expect(squeeze(parsed.text)).toBe(squeeze(visibleText(text)));
      }),
      runs,
    );
  });

  it('renders a long text with many annotations quickly', () => {
    const marks = Array.from({ length: 1000 }, (_, at) => ({
      type: 'bold' as const,
      start: at * 3,
      end: at * 3 + 1,
    }));

    const html = renderParagraphs('a\n\n'.repeat(50_000), marks);

    expect(html.split('<strong>')).toHaveLength(1001);
  });
});

it.each([
  '<script>x</script>',
  '<p class="a">x</p>',
  '<p onclick="x">x</p>',
  '<a href="javascript:x" rel="nofollow noopener noreferrer">x</a>',
  '<a href="https://a.example/">x</a>',
  '<img src="https://a.example/">',
  '<!-- x -->',
  '<p>a<blockquote>b</blockquote></p>',
  '&#0;',
])('the check of parsed HTML rejects %j', (html) => {
  expect(findUnsafe(parseHtml(html))).not.toEqual([]);
});
