import { describe, expect, it } from 'vitest';
import { type Media, toMediaSet } from '../../../src/model/media.ts';
import type { Post, Status } from '../../../src/model/post.ts';
import {
  type FeedFormat,
  feedFormats,
  type ListResult,
  type PostResult,
} from '../../../src/model/results.ts';
import { createToEntry, listEntryPosts } from '../../../src/render/feeds/entry.ts';
import { createFeedRenderer } from '../../../src/render/feeds/feeds.ts';
import { tagPost, toStrictUrl } from '../../../src/render/feeds/urls.ts';
import { emptyElement, textElement } from '../../../src/render/feeds/xml-feeds.ts';
import { clause } from '../../support/clause.ts';
import { fc, runs } from '../../support/fast-check.ts';
import { checkFeed, type ReadItem, readWithParsers, textsAt } from '../../support/feeds.ts';
import { profileResult, repliesResult, searchResult } from '../../support/render-browse.ts';
import { hostileText } from '../../support/render-markdown.ts';
import {
  account,
  ada,
  answerTo,
  article,
  bo,
  facet,
  furtherMembers,
  photo,
  result,
  status,
  tombstone,
} from '../../support/render-posts.ts';

const renderFeed = (result: ListResult | PostResult, format: FeedFormat): string =>
  createFeedRenderer(format)(result, { baseUrl: 'https://perch.example' });

/** Texts that break XML, JSON or HTML if a writer does not escape or replace them. */
const xmlPieces = [
  ...'\u0000\u0008\u000b\u001f\u007f\u0085\ufeff\ufffe\uffff\u{1fffe}\u{10ffff}\u2028\u202e\r"\'',
  ...['\ud800', '\udfff', '\udc00\ud800', '\r\n', '<?xml version="1.0"?>', '<img src=x onerror=y>'],
  ...['<!DOCTYPE a [<!ENTITY b "c">]>', ']]>', '<![CDATA[', '&b;', '&#0;', '&#x1f;', '&lt;'],
  ...['&amp;lt;', '</title>', '</content></entry>', '<script>alert(1)</script>', '\\u0000', '}]'],
  ...['javascript:alert(1)', 'data:text/html,<b>', '#tag'],
];

const words = fc
  .array(fc.oneof(hostileText, fc.constantFrom(...xmlPieces)), { maxLength: 5 })
  .map((parts) => parts.join(''));

const url = fc.oneof(
  fc.constantFrom(
    'https://a.example/a.jpg?b=1&c=2',
    'https://a.example/ä"<',
    'javascript:alert(1)',
    '',
  ),
  words,
  words.map((text) => `https://a.example/${text}`),
);

const number = fc.constantFrom(
  ...[null, 0, 1, -1, 1.5, 1280, Number.NaN, Number.POSITIVE_INFINITY, 1e300],
);

const media: fc.Arbitrary<Media> = fc.record({
  type: fc.constantFrom('photo', 'video', 'gif', 'audio', 'file'),
  url,
  width: number,
  height: number,
  alt: fc.option(words),
  thumbnail_url: fc.option(url),
  duration: number,
  variants: fc.array(fc.record({ url, content_type: fc.option(words), bitrate: number }), {
    maxLength: 2,
  }),
});

const people = fc
  .record({ name: words, handle: words, id: words, url, picture: fc.option(url), text: words })
  .map(({ name, handle, id, url: page, picture, text }) =>
    account(name, handle, {
      id,
      url: page,
      description: text,
      avatar_url: picture,
      banner_url: picture,
      platform: 'mastodon',
    }),
  );

const parts = fc.record({
  author: people,
  other: people,
  text: words,
  line: words,
  page: url,
  media: fc.array(media, { maxLength: 4 }),
  platform: fc.constantFrom('x', 'bluesky', 'mastodon', 'sample'),
  seconds: fc.oneof(fc.integer({ min: 0, max: 253_402_300_799 }), fc.constantFrom(-1, 1e300)),
  isLost: fc.integer({ min: 0, max: 9 }).map((value) => value === 0),
  has: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
});

/** Hostile post: all texts, URLs, ids and numbers are values that a careless writer does not handle. */
const hostilePost: fc.Arbitrary<Post> = parts.map(
  ({ author, other, text, line, page, media: items, platform, seconds, isLost, has }) => {
    if (isLost) return tombstone({ text, author, url: page });
    const length = [...text].length;
    const tag = { start: 0, end: length, url: page };
    const post = status(1, author, text, {
      id: line,
      platform,
      url: page,
      created_timestamp: seconds,
      lang: line,
      facets: [
        { type: 'hashtag', ...tag },
        { type: 'link', ...tag },
      ],
      media: toMediaSet(items),
      possibly_sensitive: has[0] === true,
      content_warning: has[1] === true ? line : null,
      reposted_by: has[2] === true ? other : null,
      replying_to: has[3] === true ? { screen_name: line, status: text, url: page } : null,
      article: has[4] === true ? article(line, { preview_text: text }) : null,
      poll:
        has[5] === true
          ? { choices: [{ label: line, count: 1, percentage: 50 }], total_votes: 2, ends_at: text }
          : null,
      quote:
        has[6] === true ? status(2, other, line, { url: page, media: toMediaSet(items) }) : null,
      community_note: text,
      replies: 3,
    });
    const { copied_from, ...further } = furtherMembers(line, page);
    return { ...post, ...further, ...(has[7] === true ? { copied_from } : {}) };
  },
);

const context = { baseUrl: 'https://perch.example' };
const toEntry = (post: Status) => createToEntry([post], { context, hasReplyCounts: false })(post);

describe('the times of an entry', () => {
  const moon = { created_at: '1969-07-20T20:17:00Z', created_timestamp: -14_182_980 };

  it('can be before 1970', () => {
    expect(toEntry(status(1, ada, 'Landed', moon))).toMatchObject({
      published: '1969-07-20T20:17:00Z',
      updated: '1969-07-20T20:17:00Z',
    });
  });

  it('can be of an edit long after the post', () => {
    const edited = status(1, ada, 'Landed', { ...moon, edited_at: '2024-01-01T00:00:00Z' });

    expect(toEntry(edited)).toMatchObject({ updated: '2024-01-01T00:00:00Z' });
  });
});

describe('the id of an entry', () => {
  const wren = account('Wren', 'wren.example.com', { id: 'did:plc:abc', platform: 'bluesky' });
  const toot = account('Wren', 'wren@birds.social', { id: '9', platform: 'mastodon' });
  const copy = { copied_from: { host: 'other.social', url: 'https://other.social/@wren/7' } };

  clause('read.feeds.entry_ids').each([
    ['x', status(20, ada, '', { platform: 'x' }), 'tag:x.com,2026:perch/20'],
    [
      'a repost',
      status(20, ada, '', { platform: 'x', reposted_by: { ...bo, id: '5' } }),
      'tag:x.com,2026:perch/20/repost/5',
    ],
    [
      'bluesky',
      status(3, wren, '', { id: '3kx', platform: 'bluesky' }),
      'tag:bsky.app,2026:perch/did%3Aplc%3Aabc/3kx',
    ],
    ['mastodon', status(7, toot, '', { platform: 'mastodon' }), 'tag:birds.social,2026:perch/7'],
    [
      'a copy',
      status(7, toot, '', { platform: 'mastodon', ...copy }),
      'tag:other.social,2026:perch/7',
    ],
    ['the sample', status(7, ada, ''), 'tag:perch.example,2026:perch/7'],
  ])('depends only on the post: %s', (_, post, id) => {
    expect(tagPost(post)).toBe(id);
  });

  it('of a parent on Bluesky has the DID if the author is known', () => {
    const parent = status(1, wren, '', { id: '3ka', platform: 'bluesky' });
    const target = (told: Partial<NonNullable<Status['replying_to']>>) =>
      status(2, bo, '', {
        platform: 'bluesky',
        replying_to: { screen_name: null, status: '3ka', url: null, ...told },
      });
    const refOf = (posts: readonly Status[]) => {
      const last = posts.at(-1) ?? parent;
      return createToEntry(posts, { context, hasReplyCounts: false })(last).inReplyTo?.id;
    };
    const did = 'tag:bsky.app,2026:perch/did%3Aplc%3Aabc/3ka';

    expect(refOf([parent, target({ screen_name: 'Wren.example.com' })])).toBe(did);
    expect(refOf([target({ url: 'https://bsky.app/profile/did:plc:abc/post/3ka' })])).toBe(did);
    expect(refOf([target({ screen_name: 'wren.example.com' })])).toBe(
      'tag:bsky.app,2026:perch/wren.example.com/3ka',
    );
  });
});

describe('an entry', () => {
  it('has a title without the start of an HTML tag', () => {
    const titleOf = (text: string, told: Partial<Status> = {}) =>
      toEntry(status(1, ada, text, told)).title;

    expect(titleOf('I <3 a < b, <b>bold</b> & <!-- it -->')).toBe(
      'I <3 a < b, ‹b>bold‹/b> & ‹!-- it -->',
    );
    expect(titleOf('Hi', { reposted_by: bo })).toBe('Repost of @ada.example: Hi');
    expect(titleOf('secret', { content_warning: 'Spiders' })).toBe('Content warning: Spiders');
    expect(titleOf('', { media: toMediaSet([photo('a', { alt: 'A gull' })]) })).toBe(
      'Photo: A gull',
    );
    expect(titleOf('')).toBe('Post');
  });

  it('has the hashtags of the text and of the post once each', () => {
    const text = '#Fog and #fog, #Owls';
    const facets = [
      facet(text, '#Fog', 'hashtag'),
      facet(text, '#fog', 'hashtag'),
      facet(text, '#Owls', 'hashtag'),
    ];

    expect(toEntry(status(1, ada, text, { facets, tags: ['owls', 'tide'] })).categories).toEqual([
      'Fog',
      'Owls',
      'tide',
    ]);
  });

  it('has the media with their types, but not those of sensitive posts', () => {
    const video = {
      ...photo('v', { type: 'video', url: 'https://media.example/v.m3u8', duration: 12.4 }),
      variants: [
        { url: 'https://media.example/v.mp4?x=1', content_type: 'video/mp4', bitrate: 800 },
      ],
      thumbnail_url: 'https://media.example/v.jpg',
    };
    const media = toMediaSet([
      photo('a', { url: 'https://media.example/a?format=png&name=large' }),
      video,
      photo('s', { type: 'audio', url: 'https://media.example/s', width: null, height: null }),
      photo('b', { url: 'javascript:alert(1)' }),
    ]);

    const { media: found } = toEntry(status(1, ada, '', { media }));

    expect(
      found.map(({ url, mediaType, medium, duration }) => [url, mediaType, medium, duration]),
    ).toEqual([
      ['https://media.example/a?format=png&name=large', 'image/png', 'image', null],
      ['https://media.example/v.mp4?x=1', 'video/mp4', 'video', 12],
      ['https://media.example/s', 'audio/mpeg', 'audio', null],
    ]);
    for (const marks of [{ possibly_sensitive: true }, { content_warning: 'Spiders' }]) {
      expect(toEntry(status(1, ada, '', { media, ...marks })).media).toEqual([]);
    }
  });

  it('is missing for placeholders and repeated posts', () => {
    const post = status(1, ada, 'Hi');
    const repost = { ...post, reposted_by: bo };

    expect(listEntryPosts([post, tombstone({ id: '9' }), post, repost])).toEqual([post, repost]);
  });
});

describe('a feed', () => {
  it('has the account with its pictures, and warnings in the subtitle', () => {
    const profile = {
      ...ada,
      avatar_url: 'https://a.example/a.jpg',
      banner_url: 'https://a.example/b.jpg',
    };
    const body = renderFeed(
      profileResult([status(1, ada, 'Hi')], { warnings: ['Some posts are missing.'] }, profile),
      'atom',
    );

    expect(textsAt(body, '/atom:feed/atom:icon')).toEqual(['https://a.example/a.jpg']);
    expect(textsAt(body, '/atom:feed/atom:logo')).toEqual(['https://a.example/b.jpg']);
    expect(textsAt(body, '/atom:feed/atom:author/atom:name')).toEqual([
      'Ada Keeper (@ada.example)',
    ]);
    expect(textsAt(body, '/atom:feed/atom:subtitle')[0]).toMatch(
      /^Keeps.* Some posts are missing\.$/,
    );
  });

  it('has a title for replies, searches and threads', () => {
    const answered = status(1, ada, 'Fog again');
    const reply = status(2, bo, 'Yes', answerTo(answered));
    const titleOf = (page: Parameters<typeof renderFeed>[0]) =>
      textsAt(renderFeed(page, 'rss'), '/rss/channel/title')[0];

    expect(titleOf(repliesResult(answered, [reply]))).toBe('Replies to Ada Keeper (@ada.example)');
    expect(titleOf(searchResult('<b>fog', [reply]))).toBe('Search: ‹b>fog');
    expect(titleOf(result([answered, reply]))).toBe(
      'Conversation with Ada Keeper (@ada.example): Fog again',
    );
  });

  it('has the time of the request if it has no entries', () => {
    const body = renderFeed(searchResult('fog', []), 'atom');

    expect(textsAt(body, '/atom:feed/atom:updated')).toEqual(['2026-03-05T10:00:00.000Z']);
  });
});

it('the XML writer escapes markup, and replaces characters that XML forbids', () => {
  const text = 'a\u0000\u0008\ud800\ufffe&<]]>"\r\n\t😀';

  expect(textElement('t', text)).toBe(
    '<t>a\ufffd\ufffd\ufffd\ufffd&amp;&lt;]]&gt;"&#13;\n\t😀</t>',
  );
  expect(emptyElement('t', { a: text, b: null, c: 1 })).toBe(
    '<t a="a\ufffd\ufffd\ufffd\ufffd&amp;&lt;]]&gt;&quot;&#13;&#10;&#9;😀" c="1"/>',
  );
});

it.each([
  [
    'https://a.example/[x]|`{}^?q=[1]#a#b',
    'https://a.example/%5Bx%5D%7C%60%7B%7D%5E?q=%5B1%5D#a%23b',
  ],
  ['https://[2001:db8::1]:8080/ä%zz', 'https://[2001:db8::1]:8080/%C3%A4%25zz'],
  ['mailto:a@b.example', null],
  ['javascript:alert(1)', null],
  ['', null],
])('a URL of a feed is valid by RFC 3986: %s', (url, strict) => {
  expect(toStrictUrl(url)).toBe(strict);
});

/** Some parsers trim texts and join white space. */
const simplify = (items: readonly ReadItem[]) =>
  items.map(({ title, html, ...item }) => ({
    ...item,
    title: title?.replace(/\s+/g, ' ').trim(),
    html: html?.replace(/\s+/g, ' ').trim(),
  }));

/** Hostile posts that are the same in every run. */
const samples: readonly Post[] = fc.sample(hostilePost, { numRuns: 300, seed: 83 });

describe('a feed of hostile posts', () => {
  it.each(feedFormats)('is valid and complete as %s', (format) => {
    const expected = listEntryPosts(samples);
    expect(expected.length).toBeGreaterThan(200);

    const items = checkFeed(format, renderFeed(searchResult('fog', samples), format));

    expect(items).toHaveLength(expected.length);
  });

  it('has the same items in all formats', () => {
    const page = searchResult('fog', samples);

    const [atom, rss, json] = feedFormats.map((format) =>
      simplify(checkFeed(format, renderFeed(page, format))),
    );

    expect(rss).toEqual(atom);
    expect(json?.map(({ id, url, title }) => ({ id, url, title }))).toEqual(
      atom?.map(({ id, url, title }) => ({ id, url, title })),
    );
  });

  it.each(feedFormats)('is read by published parsers as %s with equal items', async (format) => {
    const body = renderFeed(searchResult('fog', samples), format);
    const items = simplify(checkFeed(format, body));

    const parsed = await readWithParsers(format, body);

    for (const [name, found] of Object.entries(parsed)) {
      // For an entry without a URL, some parsers return the URL of another link.
      const comparable = simplify(found).map((item, at) =>
        items[at]?.url === undefined ? { ...item, url: undefined } : item,
      );
      expect([name, comparable]).toEqual([name, items]);
    }
  });

  it('is valid with a hostile account, title and warnings', () => {
    fc.assert(
      fc.property(
        fc.array(hostilePost, { maxLength: 2 }),
        people,
        words,
        fc.constantFrom(...feedFormats),
        (posts, profile, text, format) => {
          const told = { warnings: [text] };
          checkFeed(format, renderFeed(profileResult(posts, told, profile), format));
          checkFeed(format, renderFeed(searchResult(text, posts, told), format));
          checkFeed(format, renderFeed({ ...result([]), ...told, url: text, posts }, format));
        },
      ),
      { numRuns: runs(500) },
    );
  });
});
