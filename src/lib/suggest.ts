/** Returns the nearest name at most 2 edits and less than half of `word` away, or `undefined`. */
export function nearestName(word: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let most = Math.min(2, Math.floor((word.length - 1) / 2));
  for (const name of names) {
    const distance = editDistance(word.toLowerCase(), name, most);
    if (distance <= most) [nearest, most] = [name, distance - 1];
  }
  return nearest;
}

/** Returns the number of letters added, removed, changed or swapped, up to `most + 1`. */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: readonly number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const own = [row];
    for (let column = 1; column <= b.length; column += 1) {
      own.push(cheapest({ a, b, row, column }, [before, above, own]));
    }
    if (Math.min(...own) > most) return most + 1;
    before = above;
    above = own;
  }
  return above[b.length] ?? most + 1;
}

function cheapest(
  { a, b, row, column }: { a: string; b: string; row: number; column: number },
  [before, above, own]: readonly [readonly number[], readonly number[], readonly number[]],
): number {
  const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
  const [added = 0, dropped = 0, changed = 0] = [above[column], own[column - 1], above[column - 1]];
  const swapped = isSwapped ? (before[column - 2] ?? 0) : changed;
  const kept = a[row - 1] === b[column - 1] ? changed : changed + 1;
  return Math.min(added + 1, dropped + 1, kept, swapped + 1);
}

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

/** Returns the choice meant by a synonym (`md`), media type or misspelling; else `undefined`. */
export function nearestChoice(word: string, choices: readonly string[]): string | undefined {
  if (word.length > 40) return undefined;
  const lower = word.trim().toLowerCase();
  // In a query string, the `+` of `application/atom+xml` is a space.
  const name = lower.replace(/^(?:application|text)\/(?:x-)?/, '').replace(/[+ ]xml$/, '');
  if (choices.includes(name)) return name;
  const meant = Object.keys(synonyms).find(
    (value) => choices.includes(value) && synonyms[value]?.includes(name),
  );
  return meant ?? nearestName(name, choices);
}
