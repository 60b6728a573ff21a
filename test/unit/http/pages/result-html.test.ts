import { describe, expect, it } from 'vitest';
import { createResultRenderer } from '../../../../src/http/pages/result-html.ts';

const render = await createResultRenderer({
  baseUrl: 'https://perch.test',
  headingLevel: 3,
  toPage: (url) => `/?q=${encodeURIComponent(url)}`,
});
const htmlOf = (markdown: string) => render(markdown).html;

describe('a result as HTML', () => {
  it('has headings that skip no level, and gives the first', () => {
    const { title, html } = render('# A *b* `c`\n\n### D\n\n## E\n\n#### F\n\n# G');

    expect(title).toBe('A b c');
    expect(html.match(/<\/?h\d/g)?.filter((tag) => !tag.includes('/'))).toEqual([
      '<h3',
      '<h4',
      '<h4',
      '<h5',
      '<h3',
    ]);
    expect(
      html.match(/<h(\d)>[^<]*(?:<[^h/][^>]*>[^<]*<\/[^h][^>]*>\s*)*[^<]*<\/h\1>/g),
    ).toHaveLength(5);
  });

  it('shows a picture as a link to it, and as its name within a link', () => {
    const rel = 'rel="nofollow noopener noreferrer"';

    expect(htmlOf('![A \\<b\\>](https://a.test/x.png)')).toBe(
      `<p><a href="https://a.test/x.png" ${rel}><span class="picture">A &lt;b&gt;</span></a></p>\n`,
    );
    expect(htmlOf('[![](https://a.test/x.png)](https://a.test/v)')).toBe(
      `<p><a href="https://a.test/v" ${rel}><span class="picture">Picture</span></a></p>\n`,
    );
  });

  it('leads to the page for what Perch itself reads', () => {
    expect(htmlOf('[a](https://perch.test/ada.example?limit=2&format=json)')).toContain(
      'href="/?q=https%3A%2F%2Fperch.test%2Fada.example%3Flimit%3D2"',
    );
    expect(htmlOf('[a](https://perch.test/docs)')).toContain('href="https://perch.test/docs" rel=');
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    '//evil.test',
    '/x',
    'file:///x',
  ])('makes no link to %s', (target) => {
    expect(htmlOf(`[a](${target}) ![b](${target}) <${target}>`)).not.toMatch(/<a|<img/);
  });

  it('says by a class how a cell is aligned', () => {
    expect(htmlOf('| a | b |\n| - | -: |\n| 1 | 2 |')).toMatch(
      /<th>a<\/th>\s*<th class="align-right">b<\/th>[\s\S]*<td class="align-right">2<\/td>/,
    );
  });

  it('takes no HTML', () => {
    expect(htmlOf('<b onclick=x>hi</b>\n\n<script>x</script>')).not.toMatch(/<b|<script/);
  });
});
