import { mkdirSync, writeFileSync } from 'node:fs';
import { createSeeded, type Seeded } from './seeded.ts';

/** Size and special features of a generated export. */
export interface XExportOptions {
  readonly posts: number;
  readonly followers?: number;
  readonly following?: number;
  /** Number of files that contain the posts. */
  readonly parts?: number;
  /** Interval of posts that are a repost, a self-reply or a broken record; 0 for none. */
  readonly repostEvery?: number;
  readonly replyEvery?: number;
  readonly brokenEvery?: number;
  /** Whether the files start with a byte order mark and use CRLF. */
  readonly isWindows?: boolean;
  readonly handle?: string;
  readonly seed?: number;
}

/** Account of the generated export. */
export const exporter = { id: '1001', handle: 'Wren_Example', name: 'Wren & Co' } as const;

/** Date of generated exports. */
export const generated = '2026-02-01T10:00:00.000Z';

/** Returns the files of an X export by path. */
export function makeXExport(options: XExportOptions): ReadonlyMap<string, string> {
  const { posts, parts = 1, isWindows = false, handle = exporter.handle } = options;
  const random = createSeeded(options.seed ?? 1);
  const rows = Array.from({ length: posts }, (_, index) => makeRecord(index, options, random));
  const files = new Map<string, string>();
  const add = (name: string, script: string) => {
    const text = isWindows ? `\ufeff${script.replaceAll('\n', '\r\n')}` : script;
    files.set(`data/${name}`, text);
  };
  add('manifest.js', `window.__THAR_CONFIG = ${JSON.stringify(makeManifest(posts), null, 2)}`);
  add('account.js', toScript('account', [JSON.stringify({ account: makeAccount(handle) })]));
  add('profile.js', toScript('profile', [JSON.stringify({ profile })]));
  for (let part = 0; part < parts; part++) {
    const name = part === 0 ? 'tweets.js' : `tweets-part${part}.js`;
    const own = rows.slice((posts * part) / parts, (posts * (part + 1)) / parts);
    add(name, toScript('tweets', own, part));
  }
  for (const [kind, count] of [
    ['follower', options.followers ?? 0],
    ['following', options.following ?? 0],
  ] as const) {
    add(`${kind}.js`, toScript(kind, makeConnections(kind, count)));
  }
  add('direct-messages.js', toScript('direct_messages', ['{"dmConversation":{"secret":"never"}}']));
  add('like.js', toScript('like', ['{"like":{"tweetId":"5","fullText":"never"}}']));
  return files;
}

/** Writes the files of an export to a folder. */
export function writeExport(folder: string, files: ReadonlyMap<string, string>): string {
  for (const [name, text] of files) {
    mkdirSync(`${folder}/${name.split('/').slice(0, -1).join('/')}`, { recursive: true });
    writeFileSync(`${folder}/${name}`, text);
  }
  return folder;
}

/** Returns a file of an X export: a script that assigns an array. */
export function toScript(name: string, records: readonly string[], part = 0): string {
  return `window.YTD.${name}.part${part} = [\n${records.map((text) => `  ${text}`).join(',\n')}\n]`;
}

/** Returns a post as in `tweets.js`. `more` replaces fields. */
export function makeTweet(id: string | number, more: Readonly<Record<string, unknown>> = {}) {
  return {
    tweet: {
      edit_info: { initial: { editTweetIds: [String(id)], isEditEligible: true } },
      retweeted: false,
      source: '<a href="https://mobile.example" rel="nofollow">Mobile Web</a>',
      entities: { hashtags: [], symbols: [], user_mentions: [], urls: [] },
      display_text_range: ['0', '11'],
      favorite_count: '3',
      retweet_count: '1',
      id_str: String(id),
      id: String(id),
      truncated: false,
      favorited: false,
      created_at: 'Tue Oct 01 19:59:18 +0000 2024',
      full_text: 'Hello there',
      lang: 'en',
      ...more,
    },
  };
}

const profile = {
  description: { bio: 'Small bird, loud.', website: 'https://t.co/wren', location: 'A hedge' },
  avatarMediaUrl: 'https://pictures.example/wren_normal.jpg',
  headerMediaUrl: 'https://pictures.example/wren-header',
};

function makeManifest(posts: number) {
  return {
    userInfo: { accountId: exporter.id, userName: exporter.handle, displayName: exporter.name },
    archiveInfo: { sizeBytes: '1', generationDate: generated, isPartialArchive: false },
    dataTypes: {
      tweets: {
        files: [
          { fileName: 'data/tweets.js', globalName: 'YTD.tweets.part0', count: String(posts) },
        ],
      },
    },
  };
}

function makeAccount(handle: string) {
  return {
    email: 'wren@post.example',
    createdVia: 'web',
    username: handle,
    accountId: exporter.id,
    createdAt: '2011-05-01T08:30:00.000Z',
    accountDisplayName: exporter.name,
  };
}

function makeConnections(kind: 'follower' | 'following', count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const accountId = String(2_000_000 + index * 7 + (kind === 'follower' ? 0 : 3));
    const userLink = `https://twitter.com/intent/user?user_id=${accountId}`;
    return JSON.stringify({ [kind]: { accountId, userLink } });
  });
}

function makeRecord(index: number, options: XExportOptions, random: Seeded): string {
  const id = idOf(index);
  const at = { created_at: toXTime(1_500_000_000 + index * 600) };
  const { repostEvery = 0, replyEvery = 0, brokenEvery = 0 } = options;
  const isEvery = (every: number) => every > 0 && index % every === every - 1;
  if (isEvery(brokenEvery)) return makeBroken(id, random);
  if (isEvery(repostEvery)) return JSON.stringify(makeRepost(id, at, random));
  const text = makeText(random);
  const reply = isEvery(replyEvery)
    ? {
        in_reply_to_status_id_str: idOf(index - 1),
        in_reply_to_screen_name: options.handle ?? exporter.handle,
        in_reply_to_user_id_str: exporter.id,
      }
    : {};
  const tweet = makeTweet(id, { ...at, ...text, ...reply, favorite_count: `${random.below(900)}` });
  return JSON.stringify(tweet);
}

/** Returns the id of the post with the given index. */
export function idOf(index: number): string {
  return String(880_000_000_000_000_000n + BigInt(index) * 2_516_582_400n);
}

function makeRepost(id: string, at: { readonly created_at: string }, random: Seeded) {
  const handle = `bird_${random.below(50)}`;
  const mention = {
    name: `Bird ${handle}`,
    screen_name: handle,
    indices: ['3', String(4 + handle.length)],
    id_str: '77',
  };
  const full_text = `RT @${handle}: ${random.words(20)} …`;
  const entities = { hashtags: [], symbols: [], urls: [], user_mentions: [mention] };
  const counts = { favorite_count: '0', retweet_count: '0' };
  return makeTweet(id, { ...at, full_text, entities, ...counts });
}

const oddities = ['🦉🏽 ', 'שלום ', 'R&amp;B &lt;3 ', 'e\u0301 ', '東京 ', ''] as const;

function makeText(random: Seeded): Readonly<Record<string, unknown>> {
  const before = `${random.of(oddities)}${random.words(6 + random.below(30))} `;
  const begin = [...before].length;
  if (random.below(4) > 0) return { full_text: before.trimEnd() };
  const url = `https://t.co/${random.letters(10)}`;
  const expanded_url = `https://pages.example/${random.letters(12)}`;
  const indices = [String(begin), String(begin + url.length)];
  const urls = [{ url, expanded_url, display_url: expanded_url.slice(8), indices }];
  const entities = { hashtags: [], symbols: [], user_mentions: [], urls };
  return { full_text: `${before}${url}`, entities };
}

function makeBroken(id: string, random: Seeded): string {
  const whole = JSON.stringify(makeTweet(id));
  return random.of([
    JSON.stringify(makeTweet(id, { id_str: undefined, id: undefined })),
    JSON.stringify(makeTweet('no number')),
    JSON.stringify(makeTweet(id, { full_text: { not: 'text' } })),
    '"no record"',
    '{"tweet": }',
    whole.slice(0, -1),
  ]);
}

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Formats a time as X does: `Tue Oct 01 19:59:18 +0000 2024`. */
function toXTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  const two = (number: number) => String(number).padStart(2, '0');
  const clock = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':');
  const day = `${days[date.getUTCDay()]} ${months[date.getUTCMonth()]} ${two(date.getUTCDate())}`;
  return `${day} ${clock} +0000 ${date.getUTCFullYear()}`;
}
