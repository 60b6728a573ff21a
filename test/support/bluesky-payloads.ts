import type { Fields } from './x-payloads.ts';

// Synthetic payloads in the format of the Bluesky lexicons. The people are made up; their handles
// are under the reserved domains `.test` and `.invalid`.

const letters = 'abcdefghijklmnopqrstuvwxyz234567';

/** Returns a DID derived from a handle. */
export function bskyDid(handle: string): string {
  let state = [...handle].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7);
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return letters[state >>> 27] ?? 'a';
  };
  return `did:plc:${Array.from({ length: 24 }, next).join('')}`;
}

const tidLetters = '234567abcdefghijklmnopqrstuvwxyz';

/** Returns the record key for a time: 13 characters that sort chronologically. */
export function bskyTid(ms: number, clockId = 0): string {
  let value = BigInt(ms) * 1000n * 1024n + BigInt(clockId);
  let text = '';
  for (let index = 0; index < 13; index += 1) {
    text = (tidLetters[Number(value & 31n)] ?? '2') + text;
    value >>= 5n;
  }
  return text;
}

/** Returns the `at://` URI of a post of a handle. */
export function bskyUri(handle: string, rkey: string): string {
  return `at://${bskyDid(handle)}/app.bsky.feed.post/${rkey}`;
}

/** Returns an account as posts and lists contain it. */
export function bskyActor(handle: string, fields: Fields = {}): Fields {
  return {
    did: bskyDid(handle),
    handle,
    displayName: `${handle.split('.', 1)[0]} of Nowhere`,
    avatar: `https://cdn.bsky.example/avatar/${handle}@jpeg`,
    createdAt: '2023-05-13T01:42:47.467Z',
    associated: { chat: { allowIncoming: 'all' } },
    labels: [],
    ...fields,
  };
}

/** Returns an account as the profile endpoint returns it. */
export function bskyProfile(handle: string, fields: Fields = {}): Fields {
  return bskyActor(handle, {
    description: 'Made up for tests',
    banner: `https://cdn.bsky.example/banner/${handle}@jpeg`,
    website: 'https://nowhere.example/',
    indexedAt: '2024-06-01T12:00:00.000Z',
    followersCount: 12,
    followsCount: 3,
    postsCount: 45,
    ...fields,
  });
}

/** Returns a label from a moderation service. */
export function bskyLabel(val: string, uri: string, fields: Fields = {}): Fields {
  return {
    src: 'did:plc:ar7c4by46qjdydhdevvrndac',
    uri,
    val,
    cts: '2025-01-01T00:00:00Z',
    ...fields,
  };
}

/** Returns the label of accounts that are visible to signed-in users only. */
export function bskySignedInOnly(handle: string): Fields {
  const did = bskyDid(handle);
  const uri = `at://${did}/app.bsky.actor.profile/self`;
  return bskyLabel('!no-unauthenticated', uri, { src: did });
}

/** Returns an account that is visible to signed-in users only. */
export function bskyPrivateActor(handle: string, fields: Fields = {}): Fields {
  return bskyActor(handle, { labels: [bskySignedInOnly(handle)], ...fields });
}

/** Properties of a post, in addition to the fields of its view. */
export interface BskyPost {
  readonly handle?: string;
  readonly rkey: string;
  readonly text?: string;
  /** Unix milliseconds. */
  readonly ms?: number;
  /** Fields of the record. */
  readonly record?: Fields;
  /** URI of the post that it replies to. */
  readonly parent?: string;
}

const firstMs = Date.UTC(2026, 2, 4, 9, 12);

/** Returns a post as the AppView sends it. The default author is `mira.test`. */
export function bskyPost(post: BskyPost, fields: Fields = {}): Fields {
  const { handle = 'mira.test', rkey, parent } = post;
  const iso = new Date(post.ms ?? firstMs).toISOString();
  const reply = parent === undefined ? {} : { reply: { root: ref(parent), parent: ref(parent) } };
  return {
    uri: bskyUri(handle, rkey),
    cid: `bafy${rkey}`,
    author: bskyActor(handle),
    record: {
      $type: 'app.bsky.feed.post',
      text: post.text ?? `Post ${rkey}`,
      createdAt: iso,
      langs: ['en'],
      ...reply,
      ...post.record,
    },
    indexedAt: iso,
    labels: [],
    likeCount: 2,
    repostCount: 3,
    replyCount: 4,
    quoteCount: 1,
    bookmarkCount: 5,
    ...fields,
  };
}

function ref(uri: string): Fields {
  return { uri, cid: 'bafyref' };
}

/** Returns a post as a quoting post embeds it. */
export function bskyQuoted(post: Fields, embeds: readonly unknown[] = []): Fields {
  const { record, embed, ...rest } = post;
  const own = embed === undefined ? embeds : [embed, ...embeds];
  return { $type: 'app.bsky.embed.record#viewRecord', ...rest, value: record, embeds: own };
}

/** Returns an embed for a record. */
export function bskyRecordEmbed(record: unknown): Fields {
  return { $type: 'app.bsky.embed.record#view', record };
}

/** Returns an embed for images. */
export function bskyImages(...names: readonly string[]): Fields {
  return {
    $type: 'app.bsky.embed.images#view',
    images: names.map((name) => ({
      thumb: `https://cdn.bsky.example/thumb/${name}@jpeg`,
      fullsize: `https://cdn.bsky.example/full/${name}@jpeg`,
      alt: `A ${name}`,
      aspectRatio: { width: 1200, height: 800 },
    })),
  };
}

/** Returns an embed for a video. */
export function bskyVideo(name: string, fields: Fields = {}): Fields {
  const base = `https://video.bsky.example/watch/${name}`;
  return {
    $type: 'app.bsky.embed.video#view',
    cid: `bafy${name}`,
    playlist: `${base}/playlist.m3u8`,
    thumbnail: `${base}/thumbnail.jpg`,
    alt: `A moving ${name}`,
    aspectRatio: { width: 884, height: 872 },
    ...fields,
  };
}

/** Returns an embed for a linked page. */
export function bskyExternal(uri: string, fields: Fields = {}): Fields {
  return {
    $type: 'app.bsky.embed.external#view',
    external: { uri, title: 'On herons', description: 'They stand', ...fields },
  };
}

/** Returns a node of a thread. `around` contains its `parent` and `replies`. */
export function bskyNode(post: Fields, around: Fields = {}): Fields {
  return { $type: 'app.bsky.feed.defs#threadViewPost', post, ...around };
}

/** Returns the placeholder for a deleted post. */
export function bskyNotFound(uri: string): Fields {
  return { $type: 'app.bsky.feed.defs#notFoundPost', uri, notFound: true };
}

/** Returns the placeholder for a post hidden by a block. */
export function bskyBlocked(uri: string, did: string): Fields {
  return { $type: 'app.bsky.feed.defs#blockedPost', uri, blocked: true, author: { did } };
}

/** Returns the `reason` that marks a feed item as a repost. */
export function bskyRepost(by: Fields, ms: number): Fields {
  const indexedAt = new Date(ms).toISOString();
  return { $type: 'app.bsky.feed.defs#reasonRepost', by, indexedAt };
}

/** Returns a facet for the first occurrence of `run` in `text`. */
export function bskyFacet(text: string, run: string, feature: Fields): Fields {
  const byteStart = Buffer.byteLength(text.slice(0, text.indexOf(run)));
  const index = { byteStart, byteEnd: byteStart + Buffer.byteLength(run) };
  return { index, features: [feature] };
}
