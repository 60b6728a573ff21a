import { type Media, toMediaSet } from '../../src/model/media.ts';
import type { Post } from '../../src/model/post.ts';
import { fc } from './fast-check.ts';
import { hostileText } from './render-markdown.ts';
import { account, article, furtherMembers, status, tombstone } from './render-posts.ts';

/** Texts that break XML, JSON or HTML if a writer does not escape or replace them. */
const xmlPieces = [
  ...['\u0000', '\u0008', '\u000b', '\u001f', '\u007f', '\u0085', '\ufeff', '\ufffe', '\uffff'],
  ...[
    '\ud800',
    '\udfff',
    '\udc00\ud800',
    '\u{1fffe}',
    '\u{10ffff}',
    '\u2028',
    '\u202e',
    '\r',
    '\r\n',
  ],
  ...[']]>', '<![CDATA[', '<?xml version="1.0"?>', '<!DOCTYPE a [<!ENTITY b "c">]>', '&b;', '&#0;'],
  ...[
    '&#x1f;',
    '&lt;',
    '&amp;lt;',
    '"',
    "'",
    '</title>',
    '</content></entry>',
    '<script>alert(1)</script>',
  ],
  ...[
    '<img src=x onerror=alert(1)>',
    'javascript:alert(1)',
    'data:text/html,<b>',
    '\\u0000',
    '}]',
    '#tag',
  ],
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
  null,
  0,
  1,
  -1,
  1.5,
  1280,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  1e300,
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
export const hostilePost: fc.Arbitrary<Post> = parts.map(
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

export const hostileWords = words;
export const hostileAccount = people;
