import type { Fields } from './x-payloads.ts';

// Payloads of our own in the shapes of the lexicons of Bluesky. The people are made up; their handles
// are under the reserved domains `.test` and `.invalid`.

const letters = 'abcdefghijklmnopqrstuvwxyz234567';

/** Gives a DID that is made from a handle. */
export function bskyDid(handle: string): string {
  let state = [...handle].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7);
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return letters[state >>> 27] ?? 'a';
  };
  return `did:plc:${Array.from({ length: 24 }, next).join('')}`;
}

const tidLetters = '234567abcdefghijklmnopqrstuvwxyz';

/** Gives the record key that a client makes at a moment: 13 letters that sort as time does. */
export function bskyTid(ms: number, clockId = 0): string {
  let value = BigInt(ms) * 1000n * 1024n + BigInt(clockId);
  let text = '';
  for (let index = 0; index < 13; index += 1) {
    text = (tidLetters[Number(value & 31n)] ?? '2') + text;
    value >>= 5n;
  }
  return text;
}

/** Gives the `at://` URI of a post of a handle. */
export function bskyUri(handle: string, rkey: string): string {
  return `at://${bskyDid(handle)}/app.bsky.feed.post/${rkey}`;
}

/** Gives an account as it stands in posts and lists. */
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

/** Gives an account as its profile tells of it. */
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

/** Gives a label that a moderation service has put on something. */
export function bskyLabel(val: string, uri: string, fields: Fields = {}): Fields {
  return {
    src: 'did:plc:ar7c4by46qjdydhdevvrndac',
    uri,
    val,
    cts: '2025-01-01T00:00:00Z',
    ...fields,
  };
}

/** Gives the label by which an account keeps itself from those who are not signed in. */
export function bskySignedInOnly(handle: string): Fields {
  const did = bskyDid(handle);
  const uri = `at://${did}/app.bsky.actor.profile/self`;
  return bskyLabel('!no-unauthenticated', uri, { src: did });
}

/** Gives an account that keeps itself from those who are not signed in. */
export function bskyPrivateActor(handle: string, fields: Fields = {}): Fields {
  return bskyActor(handle, { labels: [bskySignedInOnly(handle)], ...fields });
}

/** What a post is made of, beside the fields of its view. */
export interface BskyPost {
  readonly handle?: string;
  readonly rkey: string;
  readonly text?: string;
  /** Milliseconds since the epoch. */
  readonly ms?: number;
  /** Fields of the record. */
  readonly record?: Fields;
  /** The URI of what it answers. */
  readonly parent?: string;
}

const firstMs = Date.UTC(2026, 2, 4, 9, 12);

/** Gives a post as the AppView sends it; without a handle it is by `mira.test`. */
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

/** Gives a post as another post quotes it. */
export function bskyQuoted(post: Fields, embeds: readonly unknown[] = []): Fields {
  const { record, embed, ...rest } = post;
  const own = embed === undefined ? embeds : [embed, ...embeds];
  return { $type: 'app.bsky.embed.record#viewRecord', ...rest, value: record, embeds: own };
}

/** Gives the embed that shows a record. */
export function bskyRecordEmbed(record: unknown): Fields {
  return { $type: 'app.bsky.embed.record#view', record };
}

/** Gives the embed of pictures. */
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

/** Gives the embed of a video. */
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

/** Gives the embed of a linked page. */
export function bskyExternal(uri: string, fields: Fields = {}): Fields {
  return {
    $type: 'app.bsky.embed.external#view',
    external: { uri, title: 'On herons', description: 'They stand', ...fields },
  };
}

/** Gives a post in a thread; `around` has its `parent` and `replies`. */
export function bskyNode(post: Fields, around: Fields = {}): Fields {
  return { $type: 'app.bsky.feed.defs#threadViewPost', post, ...around };
}

/** Gives what stands for a post that is gone. */
export function bskyNotFound(uri: string): Fields {
  return { $type: 'app.bsky.feed.defs#notFoundPost', uri, notFound: true };
}

/** Gives what stands for a post behind a block. */
export function bskyBlocked(uri: string, did: string): Fields {
  return { $type: 'app.bsky.feed.defs#blockedPost', uri, blocked: true, author: { did } };
}

/** Gives the reason by which a row is a repost. */
export function bskyRepost(by: Fields, ms: number): Fields {
  const indexedAt = new Date(ms).toISOString();
  return { $type: 'app.bsky.feed.defs#reasonRepost', by, indexedAt };
}

/** Gives a facet over the first place of `run` in `text`. */
export function bskyFacet(text: string, run: string, feature: Fields): Fields {
  const byteStart = Buffer.byteLength(text.slice(0, text.indexOf(run)));
  const index = { byteStart, byteEnd: byteStart + Buffer.byteLength(run) };
  return { index, features: [feature] };
}
