import { describe, expect, it } from 'vitest';
import type { ListResult, PageUrls, PostResult } from '../../../../src/model/results.ts';
import type { RenderContext } from '../../../../src/render/context.ts';
import { renderHtmlPage } from '../../../../src/render/page/page.ts';
import { createPageUrls } from '../../../../src/routes/pages/own-links.ts';
import {
  connectionsResult,
  nextPage,
  profileResult,
  repliesResult,
  searchResult,
  userSearchResult,
} from '../../../support/render-browse.ts';
import { parsePage } from '../../../support/render-html.ts';
import { account, ada, bo, result, status } from '../../../support/render-posts.ts';

const baseUrl = 'https://perch.example';
const toOwnPage = createPageUrls({ baseUrl, xMirrors: [], mastodonSearchHost: 'mastodon.social' });
const api = `${baseUrl}/api/v1`;
const profileUrl = `${api}/profiles/ada.example`;

const toUrls = (self: string, told: Partial<PageUrls> = {}): PageUrls => ({
  self,
  first: self,
  previous: null,
  ...told,
});

function open(read: PostResult | ListResult, context: Partial<RenderContext> = {}) {
  const html = renderHtmlPage(read, { baseUrl, toOwnPage, ...context });
  const page = parsePage(html);
  expect(page.errors).toEqual([]);
  return { html, elements: page.elements };
}

function linksIn({ html }: ReturnType<typeof open>, start: string, end: string) {
  const from = html.indexOf(start);
  const part = from < 0 ? '' : html.slice(from, html.indexOf(end, from));
  return parsePage(part).elements.flatMap(({ tag, text, attributes }) =>
    tag === 'a'
      ? [`${text} ${attributes.href}${attributes['aria-current'] === 'page' ? ' (current)' : ''}`]
      : [],
  );
}

const tabsOf = (page: ReturnType<typeof open>) => linksIn(page, '<nav class="tabs"', '</nav>');
const pagesOf = (page: ReturnType<typeof open>) => linksIn(page, '<nav class="paging"', '</nav>');

describe('the head of a profile', () => {
  const posts = [status(1, ada, 'One')];

  it('has the name as the title, and counts that link to their lists', () => {
    const page = open(profileResult(posts, { urls: toUrls(profileUrl) }));

    expect(page.elements.find(({ tag }) => tag === 'h1')?.text).toBe('Ada Keeper');
    expect(linksIn(page, '<p class="handle"', '</p>')).toEqual([
      `@ada.example ${baseUrl}/ada.example?format=html`,
    ]);
    expect(linksIn(page, '<ul class="numbers"', '</ul>')).toEqual([
      `1 post ${profileUrl}?format=html`,
      `1,234 followers ${profileUrl}/followers?format=html`,
      `56 following ${profileUrl}/following?format=html`,
    ]);
    expect(page.html).toContain(
      'North Point · <a href="https://light.example/about" rel="nofollow noopener noreferrer">https://light.example/about</a> · Joined <time',
    );
  });

  it('leaves out unknown counts and names', () => {
    const nameless = account(' ', 'nobody.example');

    const page = open(profileResult(posts, { urls: toUrls(profileUrl) }, nameless));

    expect(page.elements.find(({ tag }) => tag === 'h1')?.text).toBe('@nobody.example');
    expect(page.html).not.toMatch(/class="(?:handle|numbers)"/);
  });

  it('shows pictures in boxes of a fixed size, if the server can show them', () => {
    const pictured = {
      ...ada,
      avatar_url: 'https://media.example/me.jpg',
      banner_url: 'https://media.example/wide.jpg',
    };
    const read = profileResult(posts, { urls: toUrls(profileUrl) }, pictured);
    const toPictureUrl = (url: string) => `${baseUrl}/media/${url.slice(-6)}`;

    const images = open(read, { toPictureUrl }).elements.filter(({ tag }) => tag === 'img');
    const without = open(read);

    expect(images.map(({ attributes: { src, width, height } }) => [src, width, height])).toEqual([
      [`${baseUrl}/media/de.jpg`, '1500', '500'],
      [`${baseUrl}/media/me.jpg`, '96', '96'],
    ]);
    expect(without.elements.some(({ tag }) => tag === 'img')).toBe(false);
    expect(without.html).toContain('<span class="avatar initial" aria-hidden="true">A</span>');
  });

  it('is only on the first page', () => {
    const urls = toUrls(`${profileUrl}?page=2`, { first: profileUrl, previous: profileUrl });

    const page = open(profileResult(posts, { page: 2, urls }));

    expect(page.html).not.toContain('profile-head');
    expect(page.html).toContain('<h1 dir="auto">Ada Keeper (@ada.example)</h1>');
    expect(page.html).toContain('Page 2');
    expect(tabsOf(page)).toHaveLength(4);
  });

  it('lists details if they are requested', () => {
    const page = open(profileResult(posts, { full: true, urls: toUrls(profileUrl) }));

    expect(page.html).toContain('ID: id-ada.example');
  });
});

describe('the tabs of a list', () => {
  const search = `Search within ${api}/search?q=from%3Aada.example&platform=sample&format=html`;
  const tabs = [
    `Posts ${profileUrl}?limit=5&format=html`,
    `Replies ${profileUrl}?limit=5&with_replies=true&format=html`,
    `Media ${profileUrl}?limit=5&with_replies=true&only_media=true&format=html`,
    search,
  ];

  it.each([
    ['limit=5', 0],
    ['limit=5&with_replies=true', 1],
    ['limit=5&with_replies=true&only_media=true', 2],
    ['limit=5&only_media=true', 2],
  ])('of the profile with %s keep its other parameters', (query, current) => {
    const page = open(profileResult([], { urls: toUrls(`${profileUrl}?${query}`) }));

    expect(tabsOf(page)).toEqual(
      tabs.map((tab, at) => (at === current ? `${tab} (current)` : tab)),
    );
  });

  it('of a profile without posts lead to the posts', () => {
    const page = open(
      profileResult(null, { urls: toUrls(`${profileUrl}?limit=5&include_posts=false`) }),
    );

    expect(tabsOf(page)).toEqual(tabs);
  });

  it.each([
    ['x', 'fxtwitter', 'x'],
    ['bluesky', 'bluesky', 'bluesky'],
    ['x', 'archive', 'archive'],
    ['mastodon', 'archive', 'archive'],
    ['mastodon', 'mastodon', null],
  ] as const)('search an account of %s from %s on %s', (platform, source, searched) => {
    const read = profileResult([], { source, urls: toUrls(profileUrl) }, { ...ada, platform });

    const found = tabsOf(open(read)).filter((tab) => tab.startsWith('Search'));

    expect(found).toEqual(
      searched === null ? [] : [search.replace('platform=sample', `platform=${searched}`)],
    );
  });

  it.each([
    ['followers', 1],
    ['following', 2],
  ] as const)('of %s lead to the other lists', (resource, current) => {
    const page = open(connectionsResult(resource, [bo]));

    const lists = [
      `Posts ${profileUrl}?format=html`,
      `Followers ${profileUrl}/followers?format=html`,
      `Following ${profileUrl}/following?format=html`,
    ];
    expect(tabsOf(page)).toEqual(
      lists.map((tab, at) => (at === current ? `${tab} (current)` : tab)),
    );
  });

  it('of a search within an account lead back to it, and its form has the words', () => {
    const url = `${api}/search?q=from%3Aada.example+%22lamp%22&limit=5&platform=sample`;

    const page = open(searchResult('from:ada.example "lamp"', [], { urls: toUrls(url) }));

    expect(tabsOf(page).map((tab) => tab.replace(baseUrl, ''))).toEqual([
      'Posts /api/v1/profiles/ada.example?format=html',
      'Replies /api/v1/profiles/ada.example?with_replies=true&format=html',
      'Media /api/v1/profiles/ada.example?with_replies=true&only_media=true&format=html',
      `Search within ${url.replace(baseUrl, '')}&format=html (current)`,
    ]);
    const form = page.elements.find(({ attributes }) => attributes.class === 'search-form');
    const inputs = page.elements.filter(({ tag, attributes }) =>
      tag === 'input' ? attributes.value !== undefined : false,
    );
    expect(form?.attributes.action).toBe(`${baseUrl}/search`);
    expect(inputs.map(({ attributes: { name, value } }) => [name, value])).toEqual([
      ['limit', '5'],
      ['platform', 'sample'],
      ['format', 'html'],
      ['q', 'from:ada.example "lamp"'],
    ]);
  });

  it.each([
    ['lamp from:ada.example', 'sample'],
    ['from:ada.example', 'x'],
    ['from:!', 'sample'],
  ])('are absent for the search “%s” on %s', (query, platform) => {
    const url = `${api}/search?${new URLSearchParams({ q: query, platform })}`;

    expect(tabsOf(open(searchResult(query, [], { urls: toUrls(url) })))).toEqual([]);
  });

  it('are absent for replies and account searches', () => {
    const url = `${api}/search?q=from%3Aada.example&platform=sample&feed=users`;
    const users = userSearchResult('from:ada.example', [ada], { urls: toUrls(url) });

    expect(tabsOf(open(users))).toEqual([]);
    expect(tabsOf(open(repliesResult(status(1, ada, 'One'), [])))).toEqual([]);
  });
});

describe('the pages of a list', () => {
  const next = nextPage('/api/v1/profiles/ada.example', {});
  const first = `First page ${profileUrl}?format=html`;
  const numbered = (page: number) => `${profileUrl}?page=${page}`;

  it.each([
    [1, null, ['next']],
    [2, profileUrl, ['previous', 'next']],
    [3, numbered(2), ['first', 'previous', 'next']],
    [12, null, ['first', 'next']],
  ] as const)('link from page %i in both directions', (page, previous, expected) => {
    const urls = toUrls(`${profileUrl}?cursor=a`, { first: profileUrl, previous });

    const shown = open(profileResult([], { page, next, urls }));

    const links = {
      first,
      previous: `Previous page ${toOwnPage(previous ?? baseUrl, null)?.url}`,
      next: `Next page ${next.url}&format=html`,
    };
    expect(pagesOf(shown)).toEqual(expected.map((name) => links[name]));
    const heads = shown.elements.filter(
      ({ tag, attributes: { rel } }) => tag === 'link' && /^(?:prev|next)$/.test(rel ?? ''),
    );
    expect(heads.map(({ attributes: { rel, href } }) => `${rel} ${href}`)).toEqual([
      ...(previous === null ? [] : [`prev ${toOwnPage(previous, null)?.url}`]),
      `next ${next.url}&format=html`,
    ]);
  });

  it('are absent for a list with one page', () => {
    expect(pagesOf(open(profileResult([])))).toEqual([]);
  });
});

describe('a list of accounts', () => {
  it('shows the picture or the initial, the name, the handle and the biography', () => {
    const accounts = [
      { ...ada, avatar_url: 'https://media.example/me.jpg' },
      account('', 'bo.example'),
      account('🪶 «Éva»', 'eva.example'),
    ];

    const { html } = open(connectionsResult('followers', accounts), {
      toPictureUrl: (url) => `${baseUrl}/media/${url.slice(-6)}`,
    });

    const [, list = ''] = /<ul class="accounts">([\s\S]*?)<\/ul>/.exec(html) ?? [];
    const rows = list.match(/<li>[\s\S]*?<\/li>/g) ?? [];
    expect(rows).toHaveLength(3);
    expect(rows[0]).toContain('width="48" height="48"');
    expect(rows[0]).toContain('<p class="who"><strong><bdi>Ada Keeper</bdi></strong> <a ');
    expect(rows[0]).toContain('Keeps the light at North Point.');
    expect(rows[0]).toContain('1,234 followers · Verified: individual');
    expect(rows[1]).toContain('aria-hidden="true">b</span>');
    expect(rows[2]).toContain('aria-hidden="true">🪶</span>');
  });
});

describe('the links of a page', () => {
  const toolsOf = (page: ReturnType<typeof open>) => linksIn(page, '<nav class="tools"', '</nav>');
  const jack = account('Jack', 'jack', { platform: 'x', url: 'https://x.com/jack' });

  it('lead to the original of a post, to its permalink, and to the formats', () => {
    const post = { ...status(20, jack, 'One'), platform: 'x' as const };
    const url = 'https://x.com/jack/status/20';
    const self = `${api}/posts?url=x`;

    const page = open({ ...result([post]), url, urls: toUrls(self) });

    expect(toolsOf(page)).toEqual([
      `Open on X ${url}`,
      `Link to this page ${baseUrl}/jack/status/20?format=html`,
      ...['markdown', 'json', 'atom', 'rss', 'jsonfeed'].map((format, at) => {
        const name = ['Markdown', 'JSON', 'Atom', 'RSS', 'JSON Feed'][at];
        return `${name} ${self}&format=${format}`;
      }),
    ]);
  });

  it.each([
    ['', `${baseUrl}/jack?format=html`],
    ['?limit=5', `${api}/profiles/jack?limit=5&format=html`],
  ])('lead to the profile with the parameters “%s”', (query, expected) => {
    const page = open(profileResult([], { urls: toUrls(`${api}/profiles/jack${query}`) }, jack));

    expect(toolsOf(page).slice(0, 2)).toEqual([
      'Open on X https://x.com/jack',
      `Link to this page ${expected}`,
    ]);
  });

  it('have no original for the sample and for a search', () => {
    const names = [profileResult([]), searchResult('lamp', [])].map(
      (read) => toolsOf(open(read))[0],
    );

    expect(names.map((name) => name?.split(' http', 1)[0])).toEqual([
      'Link to this page',
      'Link to this page',
    ]);
  });
});

it('the header of a page has the box for another link, which leads to the front page', () => {
  const { elements } = open(result([status(1, ada, 'One')]), {});

  const form = elements.find(({ attributes }) => attributes.class === 'paste');
  const box = elements.find(({ tag }) => tag === 'input');
  expect(form?.attributes.action).toBe(`${baseUrl}/#result`);
  expect(box?.attributes.name).toBe('q');
});
