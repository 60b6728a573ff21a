import type { CID } from 'multiformats/cid';

// A Bluesky API server (AppView) as far as it makes views of records: `packages/bsky/src/views` of
// https://github.com/bluesky-social/atproto. It makes them as JSON, independently of the import.

type Json = Readonly<Record<string, unknown>>;

/** Account whose records a view is made of. */
export interface ViewedRepository {
  readonly did: string;
  readonly handle: string;
  /** Records by path, such as `app.bsky.feed.post/3kabc`. */
  readonly records: Readonly<Record<string, unknown>>;
  /** Returns the Unix milliseconds at which the server saw the record with a key. */
  readonly seenMs: (key: string) => number;
}

/** Returns the view of a post in a thread, without moderation labels and with counts. */
export function viewPost(key: string, of: ViewedRepository): Json {
  const uri = `at://${of.did}/app.bsky.feed.post/${key}`;
  return { ...viewShared(uri, of, key), embed: viewEmbed(recordOf(uri, of)?.embed, of, 0) };
}

function viewShared(uri: string, of: ViewedRepository, key: string): Json {
  return {
    uri,
    cid: 'bafyviewed',
    author: viewActor(of),
    record: toJson(recordOf(uri, of)),
    indexedAt: new Date(of.seenMs(key)).toISOString(),
    labels: [],
    ...{ replyCount: 1, repostCount: 2, likeCount: 3, quoteCount: 4, bookmarkCount: 5 },
  };
}

function viewActor({ did, handle, records }: ViewedRepository): Json {
  const profile = (records['app.bsky.actor.profile/self'] ?? {}) as Json; // a map in all tests
  const { displayName, avatar, createdAt } = profile;
  return { did, handle, displayName, avatar: viewImage('avatar', did, avatar), createdAt };
}

const recordOf = (uri: string, { did, records }: ViewedRepository) =>
  records[uri.replace(`at://${did}/`, '')] as Json | undefined; // absent, or a map in all tests

function viewEmbed(value: unknown, of: ViewedRepository, depth: number): Json | undefined {
  const embed = value as Json | undefined;
  switch (embed?.$type) {
    case 'app.bsky.embed.record':
      return { $type: 'app.bsky.embed.record#view', ...viewReference(embed, of, depth) };
    case 'app.bsky.embed.recordWithMedia': {
      const media = viewMedia(embed.media as Json, of.did); // a media embed in all tests
      const record = viewReference(embed.record as Json, of, depth);
      return { $type: 'app.bsky.embed.recordWithMedia#view', media, record };
    }
    default:
      return viewMedia(embed, of.did);
  }
}

function viewMedia(embed: Json | undefined, did: string): Json | undefined {
  const type = { $type: `${embed?.$type}#view` };
  const view = ({ image, ...rest }: Json): Json => ({
    ...rest,
    fullsize: viewImage('feed_fullsize', did, image),
    thumb: viewImage('feed_thumbnail', did, image),
  });
  switch (embed?.$type) {
    case 'app.bsky.embed.images':
      return { ...type, images: (embed.images as readonly Json[]).map(view) };
    case 'app.bsky.embed.gallery':
      return { ...type, items: (embed.items as readonly Json[]).map(view) };
    case 'app.bsky.embed.video': {
      const { video, alt, aspectRatio, presentation } = embed;
      const folder = `https://video.bsky.app/watch/${encodeURIComponent(did)}/${cidOf(video)}`;
      const files = { playlist: `${folder}/playlist.m3u8`, thumbnail: `${folder}/thumbnail.jpg` };
      return { ...type, cid: cidOf(video), ...files, alt, aspectRatio, presentation };
    }
    case 'app.bsky.embed.external': {
      const external = embed.external as Json;
      const thumb = viewImage('feed_thumbnail', did, external.thumb);
      return { ...type, external: { ...external, thumb } };
    }
    default:
      return undefined;
  }
}

function viewReference({ record }: Json, of: ViewedRepository, depth: number): Json {
  const { uri } = record as { readonly uri: string }; // a reference in all tests
  const found = recordOf(uri, of);
  const [, collection = '', key = ''] = uri.replace('at://', '').split('/');
  if (found === undefined) return { record: { uri, notFound: true } };
  if (collection !== 'app.bsky.feed.post') return { record: viewShown(uri, found, of) };
  const { record: value, ...view } = viewShared(uri, of, key);
  const embed = depth === 0 ? viewEmbed(found.embed, of, depth + 1) : undefined;
  return { record: { ...view, value, ...(depth === 0 && { embeds: embed ? [embed] : [] }) } };
}

function viewShown(uri: string, record: Json, of: ViewedRepository): Json {
  const { displayName, name, description, avatar } = record;
  const creator = viewActor(of);
  if (uri.includes('.starterpack/')) return { uri, creator, record: toJson(record), labels: [] };
  const image = viewImage('avatar', of.did, avatar);
  return { uri, creator, displayName, name, description, avatar: image, labels: [] };
}

const viewImage = (preset: string, did: string, blob: unknown): string | undefined =>
  blob === undefined
    ? undefined
    : `https://cdn.bsky.app/img/${preset}/plain/${did}/${cidOf(blob)}@jpeg`;

function cidOf(blob: unknown): string {
  const { ref, cid } = blob as { readonly ref?: CID; readonly cid?: string }; // a blob in all tests
  return String(ref ?? cid);
}

const toJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
