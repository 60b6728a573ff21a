import { describe, expect, it } from 'vitest';
import { toMediaSet } from '../../../../src/model/media.ts';
import type { ListResult, PostResult } from '../../../../src/model/results.ts';
import type { RenderContext } from '../../../../src/render/context.ts';
import { renderHtmlPage, toPageHeaders } from '../../../../src/render/page/page.ts';
import { createPageUrls } from '../../../../src/routes/pages/own-links.ts';
import {
  connectionsResult,
  nextPage,
  profileResult,
  searchResult,
} from '../../../support/render-browse.ts';
import { parsePage } from '../../../support/render-html.ts';
import {
  ada,
  answerTo,
  article,
  bo,
  cy,
  facet,
  photo,
  result,
  status,
  tombstone,
} from '../../../support/render-posts.ts';

const baseUrl = 'https://perch.example';
const toOwnPage = createPageUrls({
  baseUrl,
  xMirrors: ['nitter.net'],
  mastodonSearchHost: 'mastodon.social',
});

const open = (read: PostResult | ListResult, context: Partial<RenderContext> = {}) => {
  const html = renderHtmlPage(read, { baseUrl, toOwnPage, ...context });
  const page = parsePage(html);
  expect(page.errors).toEqual([]);
  const main = html.slice(html.indexOf('<main'), html.indexOf('</main>'));
  return { html, main, elements: page.elements };
};

const headingsOf = ({ elements }: ReturnType<typeof open>) =>
  elements.filter(({ tag }) => /^h\d$/.test(tag)).map(({ tag, text }) => `${tag} ${text}`);

const article1 = article('Lamps', {
  preview_text: 'It was',
  blocks: [
    { type: 'heading', level: 1, text: 'First', styles: [] },
    { type: 'paragraph', text: 'A bold word', styles: [{ style: 'bold', start: 2, end: 6 }] },
    { type: 'heading', level: 4, text: 'Second', styles: [] },
    { type: 'list_item', ordered: true, text: 'one', styles: [] },
    { type: 'list_item', ordered: true, text: 'two', styles: [] },
    { type: 'list_item', ordered: false, text: 'dot', styles: [] },
    { type: 'quote', text: 'Said', styles: [] },
    { type: 'code', text: 'a < b\n' },
    { type: 'markdown', text: '# Marked\n\nText\n\n````js\nlet a;\n```\n````\n\nEnd' },
    { type: 'divider' },
    { type: 'post', url: 'https://x.com/jack/status/20' },
  ],
});

describe('the page of a post', () => {
  it('has one title, and the posts, replies and articles below it', () => {
    const first = status(1, ada, 'One', { context: 'post' });
    const second = status(2, ada, 'Two', {
      context: 'thread',
      ...answerTo(first),
      article: article1,
    });
    const reply = status(3, bo, 'Nice', { context: 'reply', ...answerTo(first) });

    const page = open(result([first, second, reply]));

    expect(headingsOf(page)).toEqual([
      'h1 Thread by Ada Keeper (@ada.example)',
      'h2 Ada Keeper @ada.example',
      'h2 Ada Keeper @ada.example',
      'h3 Lamps',
      'h4 First',
      'h5 Second',
      'h4 Marked',
      'h2 Replies',
      'h3 Bo @bo.example',
    ]);
    expect(page.elements.filter(({ tag }) => tag === 'article')).toHaveLength(3);
    expect(page.main).toContain('1/2');
    expect(page.html).toContain('<title>Thread by Ada Keeper (@ada.example): One · Perch</title>');
  });

  it('renders each kind of block of an article', () => {
    const { main } = open(result([status(1, ada, '', { article: article1 })]));

    expect(main).toContain('<h1 dir="auto">Lamps</h1>');
    expect(main.match(/Lamps/g)).toHaveLength(1);
    expect(main).toContain('<p dir="auto">A <strong>bold</strong> word</p>');
    expect(main).toContain('<ol>\n<li dir="auto">one</li>\n<li dir="auto">two</li>\n</ol>\n<ul>');
    expect(main).toContain('<blockquote dir="auto">\n<p dir="auto">Said</p>\n</blockquote>');
    expect(main).toContain('<pre dir="auto"><code>a &lt; b</code></pre>');
    expect(main).toContain('<pre dir="auto"><code>let a;\n```</code></pre>\n<p dir="auto">End</p>');
    expect(main).toContain('<hr />');
    expect(main).toContain(`<a href="${baseUrl}/jack/status/20?format=html">`);
  });

  it('pauses within a long article', () => {
    const blocks = Array.from({ length: 50 }, () => ({ type: 'code' as const, text: 'a' }));
    const read = result([status(1, ada, '', { article: article('Lamps', { blocks }) })]);

    expect([...renderHtmlPage(read, { baseUrl })].length).toBeGreaterThan(50);
  });

  it('shows the shares of a poll as bars within their bounds', () => {
    const poll = {
      choices: [
        { label: 'Tea', count: 1, percentage: 25 },
        { label: 'Soup', count: 9, percentage: 250 },
        { label: 'None', count: null, percentage: null },
      ],
      total_votes: 4,
      ends_at: '2026-03-05T09:00:00Z',
    };

    const { main } = open(result([status(1, ada, '', { poll })]));

    expect(main).toContain('<bdi>Tea</bdi> <span class="share">25.0% · 1 vote</span>');
    expect(main.match(/<rect width="[^"]*"/g)).toEqual([
      '<rect width="25.0"',
      '<rect width="100.0"',
    ]);
    expect(main).toContain('4 votes · closed <time datetime="2026-03-05T09:00:00.000Z">');
  });

  it('shows quotes up to a depth, notes, warnings and placeholders', () => {
    const deep = status(5, cy, 'Five', { quote: status(6, cy, 'Six') });
    const quoted = status(3, bo, 'Three', { quote: status(4, cy, 'Four', { quote: deep }) });
    const post = status(2, ada, 'Two', {
      quote: quoted,
      community_note: 'Not so.',
      content_warning: 'Fog',
      possibly_sensitive: true,
      context: 'post',
    });
    const lost = tombstone({ context: 'parent', author: bo });

    const { main, elements } = open(result([lost, post], { warnings: ['One <b>.'] }));

    expect(main).toContain('This post was deleted by its author.');
    expect(main).toContain('<strong>Content warning:</strong> Fog');
    expect(main).toContain('Marked as sensitive content');
    expect(main).toContain('<strong>Community note</strong>');
    expect(main).toContain('<li dir="auto">One &lt;b&gt;.</li>');
    expect(main).toContain('Five');
    expect(main).not.toContain('>Six<');
    expect(elements.filter(({ attributes }) => attributes.class === 'quoted')).toHaveLength(4);
  });

  it('sets the direction and the language of each text', () => {
    const post = status(1, { ...ada, name: 'ليلى' }, 'مرحبا\n\nبالعالم', { lang: 'ar' });

    const { elements, main } = open(result([post]));

    expect(main.match(/<p lang="ar" dir="auto">/g)).toHaveLength(2);
    const blocks = elements.filter(({ tag }) => /^(?:h\d|li|blockquote|pre)$/.test(tag));
    const inNav = 7; // links to the original, to the page itself and to the other formats
    expect(blocks.filter(({ attributes }) => attributes.dir !== 'auto').length).toBeLessThanOrEqual(
      inNav,
    );
    expect(elements.find(({ tag }) => tag === 'bdi')?.text).toBe('ليلى');
  });

  it('links to pages of this server, and once to each original', () => {
    const text = '@jack and @jack and https://a.test/x';
    const url = 'https://x.com/jack';
    const post = status(1, ada, text, { facets: [facet(text, '@jack', 'mention', url)] });
    const read = result([
      {
        ...post,
        facets: [...post.facets, { ...facet(text, '@jack', 'mention', url), start: 10, end: 15 }],
      },
    ]);

    const { main } = open(read);

    expect(
      main.match(/<a href="https:\/\/perch\.example\/jack\?format=html">@jack<\/a>/g),
    ).toHaveLength(2);
    expect(main.match(/class="original"/g)).toHaveLength(1);
    expect(main).toContain(
      'aria-label="Original: x.com/jack" href="https://x.com/jack" rel="nofollow',
    );
    expect(main).toContain('<a href="https://a.test/x" rel="nofollow noopener noreferrer">');
  });

  it('converts a limited number of links', () => {
    const posts = Array.from({ length: 3000 }, (_, id) =>
      status(id, ada, '', { url: `https://x.com/jack/status/${id + 1}` }),
    );

    const { main } = open(result(posts));

    expect(main.match(/class="original"/g)?.length).toBeLessThanOrEqual(2000);
    expect(main).toContain('<a href="https://x.com/jack/status/3000" rel="nofollow');
  });

  it('adds profiles of accounts', () => {
    const author = open(result([status(1, ada, 'One')], { userDetail: 'author' }));
    const all = open(result([status(1, ada, 'One', { reposted_by: bo })], { userDetail: 'all' }));

    expect(headingsOf(author).at(-1)).toBe('h2 About Ada Keeper (@ada.example)');
    expect(headingsOf(all).slice(-3)).toEqual([
      'h2 Accounts',
      'h3 Ada Keeper (@ada.example)',
      'h3 Bo (@bo.example)',
    ]);
  });
});

describe('pictures of a page', () => {
  const video = { ...photo('v', { alt: 'Waves' }), type: 'video' as const };
  const media = toMediaSet([
    photo('a', { alt: 'A "lamp"' }),
    { ...video, thumbnail_url: 'https://media.example/still.jpg' },
  ]);
  const read = result([
    status(1, { ...ada, avatar_url: 'https://media.example/me.jpg' }, '', { media }),
  ]);

  it('are links if the server shows none', () => {
    const { main } = open(read);

    expect(main).not.toContain('<img');
    expect(main).toContain('<span class="picture">A &quot;lamp&quot;</span></a>');
  });

  it('are images if the server has copies', () => {
    const toPictureUrl = (url: string) =>
      url.includes('still') ? null : `${baseUrl}/media/${url.slice(-5)}`;

    const { main, elements } = open(read, { toPictureUrl });

    expect(main).toContain(
      '<div class="figure"><a href="https://media.example/a.jpg" rel="nofollow noopener noreferrer"><img src="https://perch.example/media/a.jpg" alt="A &quot;lamp&quot;" width="688" height="459" loading="lazy" decoding="async" referrerpolicy="no-referrer" /></a></div><details class="caption"><summary>Description</summary><p dir="auto">A &quot;lamp&quot;</p></details>',
    );
    expect(main).toContain('<span class="picture">Video: Waves</span>');
    expect(elements.filter(({ attributes }) => attributes.class === 'avatar')).toHaveLength(1);
  });

  it.each([{ possibly_sensitive: true }, { content_warning: 'Spiders' }])(
    'are links in a post that readers are warned about: %j',
    (marks) => {
      const post = status(1, ada, '', { media, ...marks });

      const { main } = open(result([post]), { toPictureUrl: (url) => url });

      expect(main).not.toContain('<img');
      expect(main).toContain('<span class="picture">A &quot;lamp&quot;</span></a>');
    },
  );
});

describe('the page of a list', () => {
  it('shows a profile and its posts, and links to the next page', () => {
    const next = nextPage('/api/v1/profiles/ada.example', { limit: '2' });
    const repost = status(2, bo, 'Two', { reposted_by: ada });

    const page = open(profileResult([status(1, ada, 'One'), repost], { next }));

    expect(headingsOf(page)).toEqual([
      'h1 Ada Keeper',
      'h2 2026-03-04 09:13 UTC',
      'h2 Bo @bo.example',
    ]);
    expect(page.html).toContain('<title>Ada Keeper (@ada.example) · Perch</title>');
    expect(page.main).toContain('Reposted by <a');
    expect(page.main).toContain(
      `<a rel="next" href="${next.url.replace('&', '&amp;')}&amp;format=html">Next page</a>`,
    );
  });

  it('shows accounts', () => {
    const page = open(connectionsResult('followers', [ada, bo], { page: 2 }));

    expect(headingsOf(page)).toEqual(['h1 Followers of @ada.example']);
    expect(page.main).toContain('Page 2');
    expect(page.elements.filter(({ tag }) => tag === 'strong')).toHaveLength(2);
    expect(page.main).toContain('Verified: individual');
  });

  it('reports that a list is empty or not live', () => {
    const { main } = open(searchResult('fog', [], { degraded: true }));

    expect(main).toContain('not live; their source is archive');
    expect(main).toContain('Nothing found here');
  });
});

describe('the headers of a page', () => {
  const pageAssets = {
    styles: 'a{}',
    stylesHash: 'sha256-x',
    threadScript: { text: 'let a;', hash: 'sha256-y' },
    iconUrl: 'data:,',
  };

  it('allow only the styles of the page, and the script of a page with several posts', () => {
    const policyOf = (read: PostResult | ListResult, told: Partial<RenderContext> = {}) =>
      toPageHeaders(read, { baseUrl, ...told })['content-security-policy'];
    const post = status(1, ada, 'One', { context: 'post' });
    const alone = result([post]);
    const thread = result([post, status(2, ada, 'Two', { context: 'thread' })]);

    expect(policyOf(alone, { pageAssets })).toBe(
      "default-src 'none'; style-src 'sha256-x'; img-src 'self' data:; base-uri 'none'; form-action https://perch.example; frame-ancestors 'none'",
    );
    expect(policyOf(thread, { pageAssets })).toContain("; script-src 'sha256-y'; ");
    expect(policyOf(thread)).not.toMatch(/style-src|script-src/);
    expect(open(alone, { pageAssets }).html).not.toContain('<script');
    expect(open(thread, { pageAssets }).html).toContain('<script>let a;</script>');
  });
});
