import { describe, expect, it } from 'vitest';
import { createResultRenderer } from '../../../../../src/http/pages/front/result-html.ts';

const render = await createResultRenderer({
  baseUrl: 'https://perch.test',
  xMirrors: ['nitter.net'],
  mastodonSearchHost: 'mastodon.social',
  headingLevel: 3,
  toPage: (url) => `/?q=${encodeURIComponent(url)}`,
});
const htmlOf = (markdown: string, host?: string) => render(markdown, host).html;
const rel = 'rel="nofollow noopener noreferrer"';
const pageOf = (url: string) => `href="/?q=${encodeURIComponent(url)}"`;

describe('a result as HTML', () => {
  it('has headings without skipped levels, and returns the first one', () => {
    const { title, html } = render('# A *b* `c`\n\n### D\n\n## E\n\n#### F\n\n# G');

    expect(title).toBe('A b c');
    expect(html.match(/<\/?h\d/g)?.filter((tag) => !tag.includes('/'))).toEqual([
      '<h3',
      '<h4',
      '<h4',
      '<h5',
      '<h4',
    ]);
    expect(
      html.match(/<h(\d) dir="auto">[^<]*(?:<[^h/][^>]*>[^<]*<\/[^h][^>]*>\s*)*[^<]*<\/h\1>/g),
    ).toHaveLength(5);
  });

  it.each([
    ['# Post\n\n## Article\n\n# Big\n\n### Small\n\n## Part', ['h3', 'h4', 'h4', 'h5', 'h4']],
    ['### Post\n\n# Big\n\n## Part', ['h3', 'h4', 'h4']],
    ['Post\n====\n\n> # Quoted\n\n- # Listed', ['h3', 'h4', 'h4']],
    ['# 1\n\n## 2\n\n### 3\n\n#### 4\n\n##### 5\n\n# 1', ['h3', 'h4', 'h5', 'h6', 'h6', 'h4']],
  ])('nests all headings below that of the result: %j', (markdown, tags) => {
    const { html } = render(markdown);

    expect([...html.matchAll(/<(h\d)\b/g)].map(([, tag]) => tag)).toEqual(tags);
    expect([...html.matchAll(/<\/(h\d)>/g)].map(([, tag]) => tag)).toEqual(tags);
  });

  it('sets the direction of each block of text', () => {
    const { html } = render(
      '# שלום\n\nمرحبا\n\n- אחד\n\n> ציטוט\n\n| א | b |\n| - | -: |\n| ב | d |',
    );

    const blocks = html.match(/<(?:h\d|p|li|blockquote|th|td)\b[^>]*>/g) ?? [];
    expect(blocks).toHaveLength(9);
    expect(blocks.filter((tag) => !tag.includes(' dir="auto"'))).toEqual([]);
  });

  it('renders a picture as a link, or as its name within a link', () => {
    expect(htmlOf('![A \\<b\\>](https://a.test/x.png)')).toBe(
      `<p dir="auto"><a href="https://a.test/x.png" ${rel}><span class="picture">A &lt;b&gt;</span></a></p>\n`,
    );
    expect(htmlOf('[![](https://a.test/x.png)](https://a.test/v)')).toBe(
      `<p dir="auto"><a href="https://a.test/v" ${rel}><span class="picture">Picture</span></a></p>\n`,
    );
  });

  it('links URLs of this server to the front page', () => {
    expect(htmlOf('[a](https://perch.test/ada.example?limit=2&format=json)')).toContain(
      'href="/?q=https%3A%2F%2Fperch.test%2Fada.example%3Flimit%3D2"',
    );
    expect(htmlOf('[a](https://perch.test/docs)')).toContain('href="https://perch.test/docs" rel=');
  });

  it.each([
    'https://x.com/jack/status/20',
    'https://twitter.com/jack',
    'https://nitter.net/jack/status/20',
    'https://bsky.app/profile/alice.example.com',
    'https://bsky.app/profile/alice.example.com/post/3kabcdefghij2',
    'https://mastodon.social/@ada',
    'https://mastodon.social/@ada/109',
    'https://mastodon.social/users/ada/statuses/109',
  ])('links %s to the front page, and once to the original', (url) => {
    const html = htmlOf(`[One](${url}) and [two](${url})`);

    expect(html.split(pageOf(url))).toHaveLength(3);
    expect(html).toMatch(/^<p dir="auto"><a href="\/\?q=[^"]+">One<\/a><a class="original" /);
    const host = new URL(url).hostname;
    expect(html.split(` href="${url}" ${rel} aria-label="One on ${host}">`)).toHaveLength(2);
    expect(html.match(/class="original"/g)).toHaveLength(1);
  });

  it.each([
    'https://x.com/hashtag/fog',
    'https://x.com/search?q=fog',
    'https://bsky.app/hashtag/fog',
    'https://mastodon.social/tags/fog',
    'https://x.com/jack/followers',
  ])('links %s to the front page', (url) => {
    expect(htmlOf(`[One](${url})`)).toBe(`<p dir="auto"><a ${pageOf(url)}>One</a></p>\n`);
  });

  it('links a platform’s URL appended to its own to the front page', () => {
    const html = htmlOf('[a](https://perch.test/https://x.com/jack/status/20)');

    expect(html).toContain(pageOf('https://perch.test/jack/status/20'));
  });

  it.each([
    'https://x.com/home',
    'https://x.com:8443/jack',
    'https://x.com.evil.test/jack',
    'https://user@x.com/jack',
    'https://bsky.app/settings',
    'https://shop.example.com/@ada/109',
    'https://shop.example.com/@ada',
    'https://shop.example.com/tags/fog',
    'https://social.example.com/about',
  ])('does not change the link %s', (url) => {
    expect(htmlOf(`[a](${url})`, 'social.example.com')).toBe(
      `<p dir="auto"><a href="${url}" ${rel}>a</a></p>\n`,
    );
  });

  it('links URLs of the Mastodon server that answered to the front page', () => {
    const url = 'https://social.example.com/@ada/109';

    expect(htmlOf(`[a](${url})`, 'social.example.com')).toContain(pageOf(url));
    expect(htmlOf(`[a](${url})`)).not.toContain(pageOf(url));
  });

  it('converts a limited number of links to platforms, and all of its own', () => {
    const links = Array.from({ length: 2100 }, (_, n) => `[a](https://x.com/jack/status/${n + 1})`);

    const html = htmlOf([...links, '[Next](https://perch.test/jack?limit=2)'].join('\n\n'));

    expect(html.match(/class="original"/g)).toHaveLength(2000);
    expect(html).toContain(`href="https://x.com/jack/status/2001" ${rel}>a</a></p>`);
    expect(html).toContain(`${pageOf('https://perch.test/jack?limit=2')}>Next</a>`);
  });

  it('labels the link to the original with text only', () => {
    const html = htmlOf('[**a** "<b>" ![c](https://a.test/x.png)](https://x.com/jack)');

    expect(html).toContain(' aria-label="a &quot;&lt;b&gt;&quot; c on x.com">');
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    '//evil.test',
    '/x',
    'file:///x',
  ])('does not link %s', (target) => {
    expect(htmlOf(`[a](${target}) ![b](${target}) <${target}>`)).not.toMatch(/<a|<img/);
  });

  it('aligns a cell with a class', () => {
    expect(htmlOf('| a | b |\n| - | -: |\n| 1 | 2 |')).toMatch(
      /<th dir="auto">a<\/th>\s*<th class="align-right" dir="auto">b<\/th>[\s\S]*<td class="align-right" dir="auto">2<\/td>/,
    );
  });

  it('escapes HTML', () => {
    expect(htmlOf('<b onclick=x>hi</b>\n\n<script>x</script>')).not.toMatch(/<b|<script/);
  });
});
