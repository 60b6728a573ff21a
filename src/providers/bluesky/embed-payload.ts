import { z } from 'zod';
import { eachOf, lenient, words } from '../lenient.ts';
import { isWebUrl } from '../text.ts';
import { recordUri } from './address.ts';
import { actorPayload, labels } from './payload.ts';

// Embeds as the AppView resolves them (Bluesky, section 4). Each kind has a key of its own, and the
// keys decide: a `recordWithMedia` is one of the others in `media`, and a record inside a record.

const webUrl = z.string().refine(isWebUrl);

const aspectRatio = lenient(z.object({ width: z.number(), height: z.number() }));

/** Pictures of `images` have `thumb`, those of a gallery `thumbnail`; neither is needed. */
const picture = z.object({ fullsize: webUrl, alt: words, aspectRatio });

/** A picture. */
export type PicturePayload = z.output<typeof picture>;

const video = z.object({
  playlist: webUrl,
  thumbnail: words,
  alt: words,
  aspectRatio,
  presentation: words,
});

/** A video. */
export type VideoPayload = z.output<typeof video>;

const external = z.object({
  uri: z.string().min(1),
  title: lenient(z.string()),
  description: words,
  thumb: words,
});

/** The preview of a page. */
export type ExternalPayload = z.output<typeof external>;

const embed = z.object({
  images: eachOf(picture),
  items: eachOf(picture),
  external: lenient(external),
  record: lenient(z.record(z.string(), z.unknown())),
  media: z.unknown().optional(),
});

/** What a post carries beside its text. */
export interface EmbedPayload {
  readonly pictures: readonly PicturePayload[];
  readonly video: VideoPayload | null;
  readonly external: ExternalPayload | null;
  /** What is quoted, or another record that is shown; undefined where there is none. */
  readonly record: unknown;
}

/** Reads an embed; what it does not have, or has in a form that is not known, is null or empty. */
export function parseEmbed(value: unknown): EmbedPayload {
  const parsed = embed.safeParse(value);
  if (!parsed.success) return { pictures: [], video: null, external: null, record: undefined };
  const { images, items, external: page, record, media } = parsed.data;
  const hasMedia = typeof media === 'object' && media !== null;
  if (hasMedia) return { ...parseEmbed(media), record: record?.record };
  const playable = video.safeParse(value);
  return {
    pictures: [...images, ...items],
    video: playable.success ? playable.data : null,
    external: page,
    record: record ?? undefined,
  };
}

/** A feed, a list, a starter pack or a labeler, which a post can show as it can quote a post. */
export const shownRecord = z.object({
  uri: recordUri,
  creator: actorPayload,
  labels,
  displayName: words,
  name: words,
  description: words,
  avatar: words,
  record: lenient(z.object({ name: words, description: words })),
});

/** A record that is no post. */
export type ShownRecord = z.output<typeof shownRecord>;
