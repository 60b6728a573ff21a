import { describe, expect, it } from 'vitest';
import { toRichText } from '../../../src/normalize/html-text.ts';
import { renderText } from '../../../src/render/markdown/text.ts';
import { expectFacetsFit } from '../../suites/provider-suite.ts';
import { fc, runs } from '../../support/fast-check.ts';
import { tokenTypes } from '../../support/render-markdown.ts';

const plain = { nameMention: () => null };

const textOf = (html: string) => toRichText(html, plain).text;

/** Returns the annotated ranges of a text as `type:range`. */
function runsOf(html: string): readonly string[] {
  const { text, facets } = toRichText(html, plain);
  return facets.map(({ type, start, end }) => `${type}:${[...text].slice(start, end).join('')}`);
}

describe('the text of HTML', () => {
  it.each([
    ['<p>one</p><p>two</p>', 'one\n\ntwo'],
    ['<p>one<br>two<br />three</p>', 'one\ntwo\nthree'],
    ['<p>one<br>\ntwo</p>\n\n<p>three</p>', 'one\ntwo\n\nthree'],
    ['<p>one<br><br><br><br>two</p>', 'one\n\ntwo'],
    ['<p>one\ntwo  three</p>', 'one\ntwo  three'],
    ['one<br>two', 'one\ntwo'],
    ['<p>one<p>two<p>three', 'one\n\ntwo\n\nthree'],
    ['<p></p><p>one</p><p> </p><p>two</p><br>', 'one\n\ntwo'],
    ['<div>one</div><div>two</div>', 'one\ntwo'],
    ['a &lt;b&gt; &amp;amp; &#x1F600; &nbsp;c', 'a <b> &amp; 😀 \u00a0c'],
    ['&xyzzy; &lt &#0; &#xD800;', '&xyzzy; < \uFFFD \uFFFD'],
    ['a\u0000b\r\nc', 'ab\nc'],
    ['<h1>Head</h1>text', 'Head\n\ntext'],
    ['a<hr>b', 'a\n\nb'],
    ['', ''],
    ['   ', ''],
    ['1 < 2 and 3 > 2', '1 < 2 and 3 > 2'],
    ['<p>:blob_cat: hi</p>', ':blob_cat: hi'],
    ['a <img src="https://files.example.org/x.png" alt=":blob_cat:"> b', 'a :blob_cat: b'],
    ['<u>under</u> <mark>marked</mark>', 'under marked'],
    ['a<!-- b --><!DOCTYPE c><?php d ?>e', 'ae'],
    ['\uD83D<b>\uDE00</b>', '\uFFFD\uFFFD'],
  ])('is parsed from %j as %j', (html, text) => {
    expect(textOf(html)).toBe(text);
  });

  it.each([
    ['<ul><li>one</li><li>two</li></ul>end', '• one\n• two\n\nend'],
    ['<ul>\n<li>one\n<li>two\n</ul>', '• one\n• two'],
    ['<ol><li>a</li><li>b</li></ol>', '1. a\n2. b'],
    ['<ol start="9"><li>a</li><li>b</li></ol>', '9. a\n10. b'],
    ['<ol reversed start="2"><li>a</li><li>b</li></ol>', '2. a\n1. b'],
    ['<ol><li value="5">a</li><li>b</li></ol>', '5. a\n6. b'],
    ['<ol start="1e9"><li value="x">a</li></ol>', '1. a'],
    ['<ol reversed><li>a<ol><li>b</li></ol></li><li>c</li></ol>', '2. a\n   1. b\n1. c'],
    ['<dl><dt>a<dd>b<dt>c<dd>d</dl>e', 'a\nb\nc\nd\n\ne'],
    ['<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>', '• a\n  • b\n• c'],
    ['<ol><li><p>a</p><p>b</p></li></ol>', '1. a\n\n   b'],
    ['<li>alone</li>', '• alone'],
    ['<ul><li></li><li>a</li></ul>', '• a'],
  ])('has list items for %j as %j', (html, text) => {
    expect(textOf(html)).toBe(text);
  });

  it.each([
    ['<blockquote>a<br>b</blockquote>c', '> a\n> b\n\nc'],
    ['<blockquote><p>a</p><p>b</p></blockquote>', '> a\n>\n> b'],
    ['a<blockquote>b<blockquote>c</blockquote></blockquote>', 'a\n\n> b\n>\n> > c'],
    ['<blockquote><ul><li>a<br>b</li></ul></blockquote>', '> • a\n>   b'],
    ['<blockquote></blockquote>a', 'a'],
  ])('has quotes for %j as %j', (html, text) => {
    expect(textOf(html)).toBe(text);
  });

  it.each([
    [
      '<table><thead><tr><th>Bread</th><th>Loaves</th></tr></thead><tbody><tr><td>Rye</td><td>4</td></tr></tbody></table>',
      'Bread | Loaves\nRye | 4',
    ],
    ['a<table>\n<tr>\n<td> b </td>\n<td>c</td>\n</tr>\n</table>\nd', 'a\n\nb | c\n\nd'],
    ['<table><caption>Bread</caption><tr><td>a</td><td>b</td></tr></table>', 'Bread\na | b'],
    ['<table><tr><td>a<td>b<tr><td>c<td>d</table>', 'a | b\nc | d'],
    ['<table><tr><td>a</td><td></td><td>c</td></tr></table>', 'a | | c'],
    ['<table><tr><td></td><td>b</td><td></td></tr></table>', '| b |'],
    ['<table><tr><td></td><td></td></tr><tr><td>a</td></tr></table>', 'a'],
    ['<table><tr><td colspan="2">a</td></tr><tr><td>b</td><td>c</td></tr></table>', 'a\nb | c'],
    ['<table><tr><td><p>a</p><p>b</p></td><td>c<br>d</td></tr></table>', 'a b | c d'],
    ['<table><tr><td>a</td><td><ol><li>b<li>c</ol></td></tr></table>', 'a | 1. b 2. c'],
    ['<table><td>a<td>b<tr><td>c<td>d</table>', 'a | b\nc | d'],
    [
      '<table><tr><td><table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table></td><td>d</td></tr><tr><td>e</td></tr></table>',
      'a | b; c | d\ne',
    ],
    [
      '<table><tr><th>Bird<th>Nest<th>Eggs<tr><td colspan=2>Stork<td>3<tr><td>Owl<td>Hole<td>5</table>',
      'Bird | Nest | Eggs\nStork | | 3\nOwl | Hole | 5',
    ],
    [
      '<table><tr><td rowspan=2>Mon<td>8<tr><td>9<tr><td>Tue<td rowspan="2" colspan="2">10<td>x<tr><td>Wed<td>y</table>',
      'Mon | 8\n| 9\nTue | 10 | | x\nWed | | | y',
    ],
    [
      '<table><tr><td>a<td rowspan=3>b<td>c<tr><td>d<tr><td>e<td>f<tr><td>g<td>h</table>',
      'a | b | c\nd\ne | | f\ng | h',
    ],
    ['<table><tr><td rowspan=x colspan=-4>a<td>b<tr><td>c<td>d</table>', 'a | b\nc | d'],
    [
      '<table><tr><td>a<td><table><tr><td><tr><td>b<td><tr><td>c<td>d<tr><td></table><td>e</table>',
      'a | b |; c | d | e',
    ],
    ['<blockquote><table><tr><td>a<td>b<tr><td>c</table></blockquote>', '> a | b\n> c'],
    ['<div><table><tr><td>a</div></td><td>b</td></tr></table></div>', 'a | b'],
  ])('has the cells of the table %j as %j', (html, text) => {
    expect(textOf(html)).toBe(text);
  });

  it('has the links and styles of cells', () => {
    const html =
      '<table><tr><th>a</th><td><i>b</i> <a href="https://a.example.org/">c</a></td></tr></table>';

    expect(runsOf(html)).toEqual(['bold:a', 'italic:b', 'link:c']);
  });

  it('makes no table of Markdown from cells that look like the rule of one', () => {
    const html = '<table><tr><td>a<td>b<tr><td>---<td>---<tr><td>c<td>d</table>';
    const { text, facets } = toRichText(html, plain);

    expect(tokenTypes(renderText(text, facets))).not.toContain('table_open');
  });

  it.each([
    ['a <math><mi>x</mi><mo>+</mo><mn>1</mn></math> b', 'a x + 1 b'],
    [
      '<math><semantics><mrow><mi>x</mi></mrow><annotation encoding="application/x-tex">x</annotation></semantics></math>',
      'x',
    ],
    [
      '<math><semantics><mfrac><mn>1</mn><mi>n</mi></mfrac><annotation-xml encoding="MathML-Content"><ci>z</ci></annotation-xml><annotation encoding="text/x-tex"> \\frac{1}{n} </annotation></semantics></math>',
      '\\frac{1}{n}',
    ],
    ['<math><mi>x</mi><annotation encoding="text/plain">ex</annotation></math>', 'x'],
    ['<math><mi>x</mi><p>a</p>', 'x\n\na'],
    [
      'so <span class="katex"><span class="katex-mathml"><math><semantics><msub><mi>v</mi><mn>0</mn></msub><annotation encoding="application/x-tex">v_0</annotation></semantics></math></span><span class="katex-html" aria-hidden="true"><span>v</span><span>0</span></span></span> is',
      'so v_0 is',
    ],
    ['<span class="katex"><span class="katex-html" aria-hidden="true">v</span></span>', 'v'],
    [
      '<math><semantics><ci>q</ci><annotation-xml encoding="MathML-Presentation"><mi>p</mi><mo>=</mo><mn>2</mn></annotation-xml></semantics></math>',
      'p = 2',
    ],
    [
      '<math><mi>k</mi><annotation encoding="application/x-tex; mode=display">\\kappa</annotation></math>',
      '\\kappa',
    ],
    ['<math alttext="\\sqrt{r}"><msqrt><mi>r</mi></msqrt></math>', '\\sqrt{r}'],
    ['<math><msup><mi>r</mi><mn>3</mn></msup><mo>+</mo><mi>s</mi></math>', 'r^3 + s'],
    [
      '<math>\n<msup> <mrow><mi>r</mi><mo>+</mo><mi>s</mi></mrow> <mrow><mo>-</mo><mn>1</mn></mrow> </msup></math>',
      '(r + s)^(- 1)',
    ],
    ['<math><msubsup><mi>w</mi><mi>j</mi><mn>4</mn></msubsup></math>', 'w_j^4'],
    ['<math><mfrac><mrow><mi>u</mi><mspace/></mrow><mn>7</mn></mfrac></math>', 'u/7'],
    ['<math><mn>2</mn><msqrt><mi>r</mi><mo>+</mo><mn>1</mn></msqrt></math>', '2 √(r + 1)'],
  ])('has the formula %j once, as %j', (html, text) => {
    expect(textOf(html)).toBe(text);
  });

  it.each([
    ['10<sup>6</sup> to 10<sup>-3</sup>, H<sub>2</sub>O', '10⁶ to 10⁻³, H₂O'],
    ['the 1<sup>st</sup> of x<sub>max</sub>', 'the 1st of xmax'],
    ['so <q>she said</q>', 'so “she said”'],
    [
      '<ruby>鷺<rp>(</rp><rt>さぎ</rt><rp>)</rp></ruby> <ruby>鷺<rt>さぎ</rt></ruby>',
      '鷺(さぎ) 鷺(さぎ)',
    ],
    ['<details><summary>a</summary>b</details>c', 'a\nb\nc'],
    ['<figure><img alt="A heron"><figcaption>b</figcaption></figure>', 'A heron\nb'],
  ])('has what the elements of %j mean, as %j', (html, text) => {
    expect(textOf(html)).toBe(text);
  });

  it('keeps the spaces and lines of preformatted text', () => {
    const html = '<pre><code>if a:\n    b()\n</code></pre><p>end</p>';

    expect(textOf(html)).toBe('if a:\n    b()\n\nend');
    expect(runsOf(html)).toEqual(['code:if a:\n    b()']);
  });

  it.each([
    ['<b>a</b> <strong>b</strong> <h2>c</h2>', ['bold:a', 'bold:b', 'bold:c']],
    ['<i>a</i> <em>b</em>', ['italic:a', 'italic:b']],
    ['<del>a</del> <s>b</s>', ['strikethrough:a', 'strikethrough:b']],
    ['<b>a <i>b</i></b>', ['bold:a b', 'italic:b']],
    ['<b>a<b>b</b>c</b>d', ['bold:abc']],
    ['<b></b><i> </i>a', []],
    ['<b>a', ['bold:a']],
    ['a</b>b', []],
    ['<b>a<i>b</b>c</i>', ['bold:ab', 'italic:b']],
    ['<p><b>a</p><p>b', ['bold:a']],
    ['<code>a &lt; b</code>', ['code:a < b']],
  ])('has the styles of %j', (html, runs) => {
    expect(runsOf(html)).toEqual(runs);
  });

  it.each([
    ['<script>alert("<b>x</b>")</script>a', 'a'],
    ['<style>p { color: red }</style>a', 'a'],
    ['<textarea><b>x</b></textarea>a', 'a'],
    ['<title>x</title>a', 'a'],
    ['<template><p>x</template>a', 'a'],
    ['<noscript><b>x</b></noscript>a', 'a'],
    ['<iframe src="https://evil.example.org"><b>x</b></iframe>a', 'a'],
    ['<svg onload="alert(1)"><text>x</text></svg>a', 'xa'],
    ['<custom-thing onclick="alert(1)">x</custom-thing>', 'x'],
    ['a<script>b', 'a'],
    ['<scr<script>ipt>alert(1)</script>', 'ipt>alert(1)'],
  ])('has at most the text of %j', (html, text) => {
    expect(toRichText(html, plain)).toEqual({ text, facets: [] });
  });
});

describe('a link in HTML', () => {
  const long = 'https://news.example.org/2026/01/a-long-address';

  function linkOf(html: string, nameMention = plain.nameMention as (url: string) => string | null) {
    const { text, facets } = toRichText(html, { nameMention });
    return { text, links: facets.map(({ type, url }) => [type, url]) };
  }

  it('is shown in full if the server hides most of it', () => {
    const html = `<a href="${long}" rel="nofollow"><span class="invisible">https://</span><span class="ellipsis">news.example.org/2026</span><span class="invisible">/01/a-long-address</span></a>`;

    expect(linkOf(`see ${html}`)).toEqual({ text: `see ${long}`, links: [['link', long]] });
  });

  it('keeps a label that is not a URL', () => {
    expect(linkOf(`<a href="${long}">the news</a>`)).toEqual({
      text: 'the news',
      links: [['link', long]],
    });
  });

  it('shows its target if the label is another URL', () => {
    expect(linkOf(`<a href="${long}">https://bank.example.com/</a>`).text).toBe(long);
  });

  it('is a mention with the server of the account', () => {
    const url = 'https://kelp.example.net/@kelp';
    const html = `<span class="h-card"><a href="${url}" class="u-url mention">@<span>kelp</span></a></span> hi`;

    expect(linkOf(html, () => 'kelp@kelp.example.net')).toEqual({
      text: '@kelp@kelp.example.net hi',
      links: [['mention', url]],
    });
    expect(linkOf(html).text).toBe('@kelp hi');
  });

  it('is a hashtag', () => {
    const url = 'https://reef.example.org/tags/tides';
    const html = `<a href="${url}" class="mention hashtag" rel="tag">#<span>tides</span></a>`;

    expect(linkOf(html)).toEqual({ text: '#tides', links: [['hashtag', url]] });
  });

  it.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:text/html,x',
    'dat://x',
    'ftp://files.example.org/',
    '/relative',
    '//protocol.example.org/',
    'https://',
    '',
  ])('is plain text if its URL is %j', (href) => {
    expect(linkOf(`<a href="${href}">label</a>`)).toEqual({ text: 'label', links: [] });
  });

  it('ends at the start of another link or a block', () => {
    const html = `<a href="${long}">a<a href="${long}">b<p>c</p>`;

    expect(toRichText(html, plain)).toEqual({
      text: 'ab\n\nc',
      facets: [
        { type: 'link', start: 0, end: 1, url: long },
        { type: 'link', start: 1, end: 2, url: long },
      ],
    });
  });

  it('is omitted with its omitted element', () => {
    const html = `<p class="quote-inline">RE: <a href="${long}">a post</a></p><p>text</p>`;

    expect(textOf(html)).toBe('RE: a post\n\ntext');
    const omittedClass = 'quote-inline';
    expect(toRichText(html, { ...plain, omittedClass })).toEqual({ text: 'text', facets: [] });
  });
});

describe('hostile HTML', () => {
  const inline = ['b', 'i', 'a', 'code', 'span', 'script', 'math', 'annotation', 'sup', 'template'];
  const names = [
    ...inline,
    ...['p', 'pre', 'ul', 'ol', 'li', 'blockquote', 'table', 'tr', 'td', 'th', 'caption'],
  ];
  const piece = fc.oneof(
    fc.constantFrom(...names).map((name) => `<${name}>`),
    fc.constantFrom(...names).map((name) => `</${name}>`),
    fc.constantFrom(
      '<a href="https://a.example.org/x">',
      '<a class="mention" href="https://a.example.org/@b">@b',
      '<span class="invisible">',
      '<span class="ellipsis">',
      '<br>',
      '&lt;script&gt;',
      '<img alt="<b>">',
      '😀',
      '\n',
      '](https://evil.example.org)',
      '<',
    ),
    fc.string({ unit: 'binary', maxLength: 12 }),
  );
  const garbage = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));

  it('never breaks the reader, the facets or the Markdown', () => {
    fc.assert(
      fc.property(fc.oneof(garbage, fc.string({ unit: 'binary' })), (html) => {
        const { text, facets } = toRichText(html, plain);
        const markdown = renderText(text, facets);

        expectFacetsFit(text, facets);
        for (const { url } of facets) expect(url ?? 'https:').toMatch(/^https?:/);
        expect(tokenTypes(markdown).filter((type) => type.startsWith('html_'))).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });

  it.each([
    ['deep quotes', '<blockquote>'.repeat(10_000)],
    ['deep lists', '<ul><li>'.repeat(10_000)],
    ['deep styles', '<b><i>'.repeat(10_000)],
    ['deep tables', '<table><tr><td>'.repeat(10_000)],
  ])('is parsed at any depth: %s', (_name, html) => {
    expect(textOf(`${html}x`)).toMatch(/x$/);
  });

  it.each([
    ['styles over paragraphs', `${'<b class=x>'.repeat(50_000)}${'<p>y'.repeat(50_000)}`],
    ['links that never end', '<a href=https://a.example.org>'.repeat(35_000)],
    ['items', '<li>'.repeat(250_000)],
    ['cells', `<table>${'<td>'.repeat(250_000)}x`],
    ['rows', '<table><tr>'.repeat(100_000)],
    ['cells over columns', `<table>${'<tr><td colspan=50>x<td>y'.repeat(30_000)}`],
    [
      'cells over rows',
      `<table>${'<tr><td colspan=49 rowspan=50>x'.repeat(50)}${'<tr><td>x'.repeat(80_000)}`,
    ],
    ['powers', `<math>${'<msup><mi>x</mi>'.repeat(60_000)}`],
    ['lists that count down', '<ol reversed><li>'.repeat(60_000)],
    ['ends without a beginning', '</b>'.repeat(250_000)],
    ['attributes', `<a ${Array.from({ length: 150_000 }, (_, at) => `b${at}`).join(' ')}>`],
    ['one long tag', `<a href="${'x'.repeat(1_000_000)}`],
    ['signs', '<'.repeat(1_000_000)],
    ['entities', '&#x'.repeat(350_000)],
    ['spaces', ' '.repeat(1_000_000)],
  ])('is cut so that a mebibyte of it does not take long: %s', (_name, html) => {
    expect(textOf(html).length).toBeLessThanOrEqual(262_145);
  });
});
