import { z } from 'zod';
import {
  address,
  eachOf,
  joinLists,
  type List,
  lenient,
  term,
  text,
  url,
  words,
} from '../../platforms/lenient.ts';
import { maximums } from '../../platforms/maximums.ts';
import { isWebUrl } from '../../platforms/text.ts';
import { recordUri } from './address.ts';
import { actorPayload, labels } from './payload.ts';

// Embeds as the AppView resolves them (Bluesky, section 4). Each kind has a key of its own, and the
// keys decide: a `recordWithMedia` is one of the others in `media`, and a record inside a record.

const webUrl = url.refine(isWebUrl);

const aspectRatio = lenient(z.object({ width: z.number(), height: z.number() }));

/** Pictures of `images` have `thumb`, those of a gallery `thumbnail`; neither is needed. */
const picture = z.object({ fullsize: webUrl, alt: words, aspectRatio });

/** A picture. */
export type PicturePayload = z.output<typeof picture>;

const video = z.object({
  playlist: webUrl,
  thumbnail: address,
  alt: words,
  aspectRatio,
  presentation: term,
});

/** A video. */
export type VideoPayload = z.output<typeof video>;

const external = z.object({
  uri: url,
  title: lenient(text),
  description: words,
  thumb: address,
});

/** The preview of a page. */
export type ExternalPayload = z.output<typeof external>;

const embed = z.object({
  images: eachOf(picture, maximums.media),
  items: eachOf(picture, maximums.media),
  external: lenient(external),
  record: lenient(z.looseObject({})),
  media: z.unknown().optional(),
});

/** What a post carries beside its text. */
export interface EmbedPayload {
  readonly pictures: List<PicturePayload>;
  readonly video: VideoPayload | null;
  readonly external: ExternalPayload | null;
  /** What is quoted, or another record that is shown; undefined where there is none. */
  readonly record: unknown;
}

const nothing: EmbedPayload = { pictures: [], video: null, external: null, record: undefined };

/** Reads an embed; what it does not have, or has in an unknown form, is `null` or empty. */
export function parseEmbed(value: unknown): EmbedPayload {
  const { data } = embed.safeParse(value);
  if (data === undefined) return nothing;
  const { record, media } = data;
  const hasMedia = typeof media === 'object' && media !== null;
  if (!hasMedia) return { ...toMedia(data, value), record: record ?? undefined };
  const { data: inner } = embed.safeParse(media);
  return { ...(inner === undefined ? nothing : toMedia(inner, media)), record: record?.record };
}

function toMedia({ images, items, external: page }: z.output<typeof embed>, value: unknown) {
  const { data: playable = null } = video.safeParse(value);
  return { pictures: joinLists(images, items), video: playable, external: page };
}

/** A feed, a list, a starter pack or a labeler, which a post can show as it can quote a post. */
export const shownRecord = z.object({
  uri: recordUri,
  creator: actorPayload,
  labels,
  displayName: words,
  name: words,
  description: words,
  avatar: address,
  record: lenient(z.object({ name: words, description: words })),
});

/** A record that is no post. */
export type ShownRecord = z.output<typeof shownRecord>;
