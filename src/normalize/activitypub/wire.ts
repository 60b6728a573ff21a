import * as z from 'zod';
import { lenient, listOf, refuse, text, textOrNull, token, tokenOrNull, url } from '../lenient.ts';
import { maximums } from '../maximums.ts';
import { readTimeMs } from '../times.ts';

/** Public values of `to` and `cc`. Source: https://www.w3.org/TR/activitypub/#public-addressing */
const publicNames: ReadonlySet<unknown> = new Set([
  'https://www.w3.org/ns/activitystreams#Public',
  'as:Public',
  'Public',
]);

/** Returns the values of a property, which may have one value, a list of values, or none. */
export function toValues(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

const values = z.transform(toValues);

/** Creates the schema of a property with one value or a list. Skips malformed values. */
export function manyOf<S extends z.ZodType>(schema: S, max: number) {
  const list = listOf(schema, max);
  return z.transform((value: unknown) => list.parse(toValues(value)));
}

/** Recipients of an object or activity. */
export const addressed = { to: values, cc: values };

type Addressed = { readonly to: readonly unknown[]; readonly cc: readonly unknown[] };

export const isPublic = ({ to, cc }: Addressed): boolean =>
  [...to, ...cc].some((recipient) => publicNames.has(recipient));

export const namesRecipients = ({ to, cc }: Addressed): boolean => to.length + cc.length > 0;

export const timeMs = z.transform((value: unknown) =>
  typeof value === 'string' ? readTimeMs(value) : null,
);

const total = lenient(
  z.object({ totalItems: z.number().int().min(0) }).transform(({ totalItems }) => totalItems),
);

/** Reference to an object: its id, itself or a link to it. Any other value becomes `null`. */
export const idOf = z.union([
  url,
  z.object({ id: url }).transform(({ id }) => id),
  z.object({ href: url }).transform(({ href }) => href),
]);
export const idOrNull = lenient(idOf);

const link = z.union([
  url.transform((href) => ({ href, mediaType: null })),
  z.object({ href: url, mediaType: tokenOrNull }),
]);
const links = manyOf(link, maximums.variants);

const attachment = z
  .object({
    type: tokenOrNull,
    mediaType: tokenOrNull,
    url: links,
    name: textOrNull,
    summary: textOrNull,
    width: lenient(z.number().positive()),
    height: lenient(z.number().positive()),
  })
  .transform(({ url: [file], mediaType, ...item }, context) =>
    file === undefined
      ? refuse(context, 'The file has no URL.')
      : { ...item, url: file.href, mediaType: mediaType ?? file.mediaType },
  );
export type AttachmentPayload = z.output<typeof attachment>;

const mention = z.object({ type: z.literal('Mention'), href: url, name: token.min(1) });
export type MentionPayload = z.output<typeof mention>;

const quoteRelations: ReadonlySet<unknown> = new Set([
  'https://misskey-hub.net/ns#_misskey_quote',
  'https://w3id.org/fep/044f#quote',
]);

const objectType = /^application\/(?:activity\+json|ld\+json)\b/i;

/**
 * Link to the quoted post: it has the relation of a quote, or no relation and the media type of an
 * object, if any. Source: https://codeberg.org/fediverse/fep/src/branch/main/fep/e232/fep-e232.md
 */
const quoteLink = z
  .object({
    type: z.literal('Link'),
    href: url,
    rel: z.unknown().optional(),
    mediaType: tokenOrNull,
  })
  .refine(({ rel = null, mediaType }) =>
    rel === null
      ? mediaType === null || objectType.test(mediaType)
      : [rel].flat().some((each) => quoteRelations.has(each)),
  );

const tag = z.union([
  mention,
  z.object({ type: z.literal('Hashtag'), name: token.min(1) }),
  quoteLink,
  z.object({ type: z.literal('Emoji') }), // its name is in the text
]);

const choice = z.object({ name: text, replies: total });
const allChoices = listOf(choice, maximums.choices);

const choices = z.transform((value: unknown) =>
  Array.isArray(value) ? allChoices.parse(value) : null,
);

const textsByLanguage = lenient(z.looseObject({})).transform((map) =>
  Object.entries(map ?? {})
    .slice(0, maximums.languages)
    .map(([language, value]) => [language, textOrNull.parse(value)] as const),
);

/** Note, or another object with the content of a post. */
export const note = z.object({
  id: url,
  type: token,
  ...addressed,
  published: timeMs,
  updated: timeMs,
  url: links.transform(([page]) => page?.href ?? null),
  name: textOrNull,
  content: lenient(text),
  contentMap: textsByLanguage,
  mediaType: tokenOrNull,
  source: lenient(z.object({ content: text, mediaType: tokenOrNull })),
  summary: textOrNull,
  sensitive: lenient(z.boolean()),
  inReplyTo: idOrNull,
  quote: idOrNull,
  quoteUri: idOrNull,
  quoteUrl: idOrNull,
  quoteURL: idOrNull,
  _misskey_quote: idOrNull,
  tag: manyOf(tag, maximums.facets),
  attachment: manyOf(attachment, maximums.media),
  oneOf: choices,
  anyOf: choices,
  endTime: tokenOrNull,
  closed: tokenOrNull,
  votersCount: lenient(z.number().int().min(0)),
  likes: total,
  shares: total,
  generator: lenient(z.object({ name: textOrNull })),
});

export type NotePayload = z.output<typeof note>;
