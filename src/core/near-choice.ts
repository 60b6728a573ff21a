import { nearestName } from './near-name.ts';

const synonyms: Readonly<Record<string, readonly string[]>> = {
  x: ['twitter', 'twitter.com', 'x.com', 'tweets'],
  bluesky: ['bsky', 'bsky.app', 'bsky.social', 'atproto'],
  mastodon: ['masto', 'fediverse', 'fedi', 'activitypub', 'pleroma', 'misskey', 'pixelfed'],
  archive: ['local', 'imported', 'imports'],
  sample: ['demo', 'example', 'examples', 'test'],
  markdown: ['md', 'text', 'txt', 'plain', 'plaintext', 'gfm', 'commonmark'],
  text: ['markdown', 'md', 'txt', 'plain'],
  obsidian: ['yaml', 'yml', 'note', 'notes', 'frontmatter', 'vault'],
  html: ['htm', 'web', 'page', 'webpage', 'website', 'xhtml'],
  jsonfeed: ['json-feed', 'json_feed', 'json feed', 'feed+json', 'feed json', 'feed.json'],
  ndjson: ['jsonl', 'jsonlines', 'json-lines', 'json', 'stream'],
  json: ['ndjson', 'jsonl', 'jsonlines', 'json-lines', 'object'],
  rss: ['xml', 'rss2', 'rss2.0'],
  atom: ['feed', 'atom1.0'],
  latest: ['new', 'newest', 'recent', 'live', 'date', 'chronological'],
  recent: ['new', 'newest', 'latest', 'date', 'chronological'],
  top: ['best', 'hot', 'popular', 'likes', 'liked', 'relevance', 'relevant'],
  photos: ['image', 'images', 'img', 'picture', 'pictures', 'pics', 'media'],
  videos: ['movie', 'movies', 'clips'],
  users: ['people', 'person', 'accounts', 'account', 'profiles', 'profile'],
  off: ['none', 'no', 'false', '0', '1', 'never', 'hide', 'null', 'single'],
  full: ['all', 'yes', 'true', 'on', 'everything', 'complete', 'whole'],
  all: ['full', 'both', 'everyone', 'everything'],
  conversation: ['replies', 'context', 'everyone'],
  thread: ['self', 'author', 'own'],
  author: ['self', 'own'],
  true: ['on', 'y', 't', 'enable', 'enabled'],
  false: ['off', 'n', 'f', 'disable', 'disabled', 'none'],
  profile: ['user', 'account', 'posts', 'tweets', 'timeline'],
  following: ['friends', 'follows', 'followees'],
};

const maxLength = 40;

/** Returns the choice meant by a synonym (`md`), media type or misspelling; else `undefined`. */
export function nearestChoice(word: string, choices: readonly string[]): string | undefined {
  if (word.length > maxLength) return undefined;
  const lower = word.trim().toLowerCase();
  // In a query string, the `+` of `application/atom+xml` is a space.
  const name = lower.replace(/^(?:application|text)\/(?:x-)?/, '').replace(/[+ ]xml$/, '');
  if (choices.includes(name)) return name;
  const meant = Object.keys(synonyms).find(
    (value) => choices.includes(value) && synonyms[value]?.includes(name),
  );
  return meant ?? nearestName(name, choices);
}
