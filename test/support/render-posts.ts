import { type Account, toAccount } from '../../src/model/account.ts';
import type { Article } from '../../src/model/article.ts';
import { type Media, toMediaSet } from '../../src/model/media.ts';
import type { Facet, Status, Tombstone } from '../../src/model/post.ts';
import type { PostResult } from '../../src/model/results.ts';

/** Creates an account of the sample with a name and a handle under `.example`. */
export function account(name: string, handle: string, told: Partial<Account> = {}): Account {
  return toAccount({
    id: `id-${handle}`,
    screen_name: handle,
    name,
    url: `https://perch.example/${handle}`,
    platform: 'sample',
    ...told,
  });
}

/** Account with a complete profile. */
export const ada = account('Ada Keeper', 'ada.example', {
  description:
    'Keeps the light at North Point.\nWrites about weather_logs & lenses: https://light.example',
  location: 'North Point',
  website: { url: 'https://light.example/about', display_url: 'light.example' },
  followers: 1234,
  following: 56,
  statuses: 1,
  joined: '2019-05-01T08:00:00.000Z',
  verification: { verified: true, type: 'individual' },
});

/** Account that replies. */
export const bo = account('Bo', 'bo.example', { followers: 1, protected: true });

/** Account with an underscore in the handle. */
export const cy = account('Cy “the Gull” Reyes', 'cy_gull.example');

const start = Date.parse('2026-03-04T09:12:30.000Z');

/** Creates a post with the given id. Its time is `id` minutes after the first post. */
export function status(
  id: number,
  author: Account,
  text: string,
  told: Partial<Status> = {},
): Status {
  const created = start + id * 60_000;
  return {
    type: 'status',
    id: String(id),
    url: `${author.url}/status/${id}`,
    text,
    facets: [],
    created_at: new Date(created).toISOString(),
    created_timestamp: created / 1000,
    author,
    lang: null,
    replies: null,
    reposts: null,
    likes: null,
    quotes: null,
    bookmarks: null,
    views: null,
    source: null,
    possibly_sensitive: false,
    replying_to: null,
    quote: null,
    reposted_by: null,
    media: toMediaSet([]),
    poll: null,
    article: null,
    content_warning: null,
    card: null,
    community_note: null,
    context: null,
    platform: 'sample',
    ...told,
  };
}

/** Creates a placeholder for an unavailable post. */
export function tombstone(told: Partial<Tombstone> = {}): Tombstone {
  return {
    type: 'tombstone',
    id: null,
    url: null,
    text: 'This post was deleted by its author.',
    reason: 'deleted',
    author: null,
    context: null,
    platform: 'sample',
    ...told,
  };
}

/** Returns the property that makes a post a reply to another one. */
export function answerTo(post: Status): Pick<Status, 'replying_to'> {
  const { id, url, author } = post;
  return { replying_to: { screen_name: author.screen_name, status: id, url } };
}

/** Creates a facet for the first occurrence of a part of a text. */
export function facet(text: string, part: string, type: Facet['type'], url?: string): Facet {
  const start = [...text.slice(0, text.indexOf(part))].length;
  const range = { type, start, end: start + [...part].length };
  return url === undefined ? range : { ...range, url };
}

/** Creates a photo. */
export function photo(name: string, told: Partial<Media> = {}): Media {
  const url = `https://media.example/${name}.jpg`;
  return { type: 'photo', url, width: 1200, height: 800, alt: null, ...told };
}

/** Creates the post members that only some sources have, from a text and a URL. */
export function furtherMembers(text: string, url: string) {
  return {
    copied_from: { host: text, url },
    edited_at: text,
    tags: [text],
    reactions: [{ name: text, count: 2, url }],
    community: { id: '1', name: text, url, description: text },
    card: {
      url,
      title: text,
      description: text,
      image_url: url,
      image_alt: text,
      provider_name: text,
      author_name: text,
      author_url: url,
    },
  } satisfies Partial<Status>;
}

/** Creates an article without blocks. */
export function article(title: string, told: Partial<Article> = {}): Article {
  return {
    id: '900',
    title,
    preview_text: null,
    cover_url: null,
    created_at: null,
    modified_at: null,
    blocks: [],
    ...told,
  };
}

/** Creates a compact result of a post read, without warnings and profiles. */
export function result(posts: PostResult['posts'], told: Partial<PostResult> = {}): PostResult {
  const asked = posts.find((post) => post.context === 'post') ?? posts[0];
  const url = asked?.url ?? 'https://perch.example/nobody/status/1';
  return {
    kind: 'post',
    url,
    embedUrl: `https://perch.example/api/v1/oembed?url=${encodeURIComponent(url)}`,
    urls: {
      self: `https://perch.example/api/v1/posts?url=${encodeURIComponent(url)}`,
      first: `https://perch.example/api/v1/posts?url=${encodeURIComponent(url)}`,
      previous: null,
    },
    freshSeconds: 3600,
    posts,
    warnings: [],
    fetchedAt: '2026-03-05T10:00:00.000Z',
    source: 'archive',
    full: false,
    userDetail: 'off',
    ...told,
  };
}
