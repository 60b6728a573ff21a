import { CID } from 'multiformats/cid';
import * as z from 'zod';
import {
  postCollection,
  readTidMs,
  recordUri,
  writePostUri,
} from '../../../normalize/bluesky/addresses.ts';
import { lenient, listOf, parserOf, token } from '../../../normalize/lenient.ts';
import { maximums } from '../../../normalize/maximums.ts';
import { readTimeMs } from '../../../normalize/times.ts';
import { link } from './repository.ts';

/**
 * Schemas of imported records, from https://atproto.com/lexicons/app-bsky-feed, `-graph` and
 * `-actor`. Records with an invalid required member are skipped; other invalid members are ignored.
 */

export const anyRecord = z.looseObject({});

export type AnyRecord = z.output<typeof anyRecord>;

/** Post, whose other members `parsePost` checks. */
export const postRecord = z.looseObject({ $type: z.literal(postCollection) });

/** Profile, whose other members `parseActor` checks. A repository has one at most, at `self`. */
export const profileRecord = z.looseObject({ $type: z.literal('app.bsky.actor.profile') });

export const repostRecord = z.object({
  $type: z.literal('app.bsky.feed.repost'),
  subject: z.object({ uri: recordUri }),
  createdAt: token
    .transform(readTimeMs)
    .nullish()
    .transform((ms) => ms ?? null),
});

export const followRecord = z.object({
  $type: z.literal('app.bsky.graph.follow'),
  subject: z.string().regex(/^did:[a-z]+:[A-Za-z0-9._:%-]{1,250}$/),
});

const blob = z.union([
  z.object({ ref: link }).transform(({ ref }) => ref.toString()),
  z.object({ cid: token }).transform(({ cid }, context) => {
    try {
      return CID.parse(cid).toString();
    } catch {
      context.addIssue({ code: 'custom', message: 'This is not a CID.' });
      return z.NEVER;
    }
  }),
]);

/** Root block of a repository. `data` is the CID of the root of the record tree. */
export const commit = z.object({
  did: z.string().regex(/^did:(?:plc:[a-z2-7]{24}|web:[A-Za-z0-9.%-]{1,253})$/),
  version: z.number(),
  data: link,
});

/**
 * This module converts records to the views that the AppView (Bluesky API server) makes of them, so
 * that the code in `src/normalize/bluesky/` can convert imported posts too.
 */

export interface Owner {
  readonly did: string;
  /** Handle, or the DID if the handle is unknown. */
  readonly name: string;
}

export interface Repository {
  readonly owner: Owner;
  /** View of the owner's account. */
  readonly actor: unknown;
  /** Unix milliseconds of the import. No record can be newer. */
  readonly nowMs: number;
  /** Returns the record at a path such as `app.bsky.feed.post/3kabc`. */
  find(path: string): AnyRecord | null;
}

const quoteLevels = 2;

/** Returns the view of a post (`app.bsky.feed.defs#postView`), without counts. */
export function toPostView(record: AnyRecord, key: string, repository: Repository): unknown {
  const embed = toEmbedView(record.embed, repository, quoteLevels);
  return { ...toShared(record, key, repository), record, embed };
}

/** Returns the view of a profile (`app.bsky.actor.defs#profileView`), without counts and labels. */
export function toActorView({ did, name }: Owner, record: AnyRecord): AnyRecord {
  // Not all members of the record, because an author could write counts or a verification into it.
  const { displayName, description, website, createdAt } = record;
  return {
    ...{ did, handle: name === did ? 'handle.invalid' : name },
    ...{ displayName, description, website, createdAt },
    avatar: toImageUrl('avatar', did, readBlob(record.avatar)),
    banner: toImageUrl('banner', did, readBlob(record.banner)),
    labels: [],
  };
}

const readSelfLabels = parserOf(
  // Malformed labels stay in the list, because `parseActor` refuses an account with too many of
  // them.
  z.object({ values: listOf(lenient(z.object({ val: z.unknown() })), maximums.labels) }),
);

export const toLabelViews = ({ labels }: AnyRecord): unknown => readSelfLabels(labels)?.values;

function toShared(record: AnyRecord, key: string, repository: Repository) {
  const { owner, actor, nowMs } = repository;
  return {
    uri: writePostUri(owner.did, key),
    author: actor,
    indexedAt: toIndexedAt(record, key, nowMs),
  };
}

/**
 * Returns the time in the key of a post in place of the time at which the AppView saw it. Returns
 * `null` if the post is newer than its key, because an app may choose a key that is too old.
 */
function toIndexedAt({ createdAt }: AnyRecord, key: string, nowMs: number): string | null {
  const keyMs = readTidMs(key, nowMs);
  if (keyMs === null) return null;
  const writtenMs = typeof createdAt === 'string' ? readTimeMs(createdAt) : null;
  const isNewer = writtenMs !== null && writtenMs > keyMs && writtenMs <= nowMs;
  return isNewer ? null : new Date(keyMs).toISOString();
}

const readBlob = parserOf(blob);
const picture = lenient(z.looseObject({ image: lenient(blob) }));
// One picture more than the maximum lets `parsePost` see that the list is too long.
const pictures = listOf(picture, maximums.media + 1);

const media = [
  z.object({ $type: z.literal('app.bsky.embed.images'), images: pictures }),
  z.object({ $type: z.literal('app.bsky.embed.gallery'), items: pictures }),
  z.looseObject({ $type: z.literal('app.bsky.embed.video'), video: blob }),
  z.object({
    $type: z.literal('app.bsky.embed.external'),
    external: z.looseObject({ thumb: lenient(blob) }),
  }),
] as const;

const mediaEmbed = z.discriminatedUnion('$type', media);

const readEmbed = parserOf(
  z.discriminatedUnion('$type', [
    ...media,
    z.object({ $type: z.literal('app.bsky.embed.record'), record: z.unknown() }),
    z.object({
      $type: z.literal('app.bsky.embed.recordWithMedia'),
      record: lenient(z.object({ record: z.unknown() })),
      media: lenient(mediaEmbed),
    }),
  ]),
);

function toEmbedView(value: unknown, repository: Repository, quotesLeft: number): unknown {
  const embed = readEmbed(value);
  if (embed === null) return undefined;
  switch (embed.$type) {
    case 'app.bsky.embed.record':
      return { record: toRecordView(embed.record, repository, quotesLeft) };
    case 'app.bsky.embed.recordWithMedia':
      return {
        media: embed.media === null ? {} : toMediaView(embed.media, repository.owner),
        record: { record: toRecordView(embed.record?.record, repository, quotesLeft) },
      };
    default:
      return toMediaView(embed, repository.owner);
  }
}

function toMediaView(embed: z.output<typeof mediaEmbed>, { did }: Owner): unknown {
  switch (embed.$type) {
    case 'app.bsky.embed.images':
      return { images: embed.images.map((each) => toPictureView(each, did)) };
    case 'app.bsky.embed.gallery':
      return { items: embed.items.map((each) => toPictureView(each, did)) };
    case 'app.bsky.embed.video': {
      const folder = `https://video.bsky.app/watch/${encodeURIComponent(did)}/${embed.video}`;
      const files = { playlist: `${folder}/playlist.m3u8`, thumbnail: `${folder}/thumbnail.jpg` };
      return { ...embed, ...files };
    }
    case 'app.bsky.embed.external': {
      const thumb = toImageUrl('feed_thumbnail', did, embed.external.thumb);
      return { external: { ...embed.external, thumb } };
    }
  }
}

const toPictureView = (of: z.output<typeof picture>, did: string): unknown =>
  of && { ...of, fullsize: toImageUrl('feed_fullsize', did, of.image) };

/** Returns the URL of an image on Bluesky's CDN. `preset`: size, such as `avatar`. */
const toImageUrl = (preset: string, did: string, cid: string | null): string | null =>
  cid === null ? null : `https://cdn.bsky.app/img/${preset}/plain/${did}/${cid}@jpeg`;

const readReference = parserOf(z.object({ uri: recordUri }));

function toRecordView(value: unknown, repository: Repository, quotesLeft: number): unknown {
  const { uri } = readReference(value) ?? {};
  if (uri === undefined) return value;
  const { owner, actor: creator } = repository;
  const { did, collection, rkey } = uri;
  const isQuote = collection === postCollection;
  const isSought = did === owner.did && (!isQuote || quotesLeft > 0);
  const record = isSought ? repository.find(`${collection}/${rkey}`) : null;
  if (record === null) return { uri: uri.uri, cid: '' };
  if (isQuote) {
    const embeds = [toEmbedView(record.embed, repository, quotesLeft - 1)];
    return { ...toShared(record, rkey, repository), value: record, embeds };
  }
  return {
    ...{ uri: uri.uri, creator, labels: toLabelViews(record) },
    name: collection === 'app.bsky.feed.generator' ? record.displayName : record.name,
    description: record.description,
    avatar: toImageUrl('avatar', did, readBlob(record.avatar)),
  };
}
