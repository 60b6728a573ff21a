import { z } from 'zod';
import { eachOf, lenient, words } from '../../../lenient.ts';
import { readTimeMs } from '../../../times.ts';

/**
 * The files of Mastodon's export: `actor.json`, an actor, and `outbox.json`, an ordered collection of
 * all that the account did, `Create` for a post and `Announce` for a boost. Followers-only posts and
 * direct messages are among them.
 *
 * Sources: https://www.w3.org/TR/activitystreams-vocabulary/, https://docs.joinmastodon.org/spec/activitypub/
 * and Mastodon's `app/services/backup_service.rb`, which writes the export: of the address of a file
 * it leaves the path alone, and of one on the server itself what comes after `/system/`.
 */

/** What stands among the recipients of what everybody may see (ActivityPub, section 5.6). */
const publicNames: ReadonlySet<unknown> = new Set([
  'https://www.w3.org/ns/activitystreams#Public',
  'as:Public',
  'Public',
]);

const recipients = z
  .unknown()
  .optional()
  .transform((value): readonly unknown[] => {
    if (value === undefined || value === null) return [];
    return Array.isArray(value) ? value : [value];
  });

const addressed = { to: recipients, cc: recipients };

/** Who something was sent to. */
export type Addressed = { readonly to: readonly unknown[]; readonly cc: readonly unknown[] };

/** Tells whether everybody may see something; what names no recipient is for nobody. */
export function isPublic({ to, cc }: Addressed): boolean {
  return [...to, ...cc].some((recipient) => publicNames.has(recipient));
}

/** Tells whether something names recipients at all. */
export function namesRecipients({ to, cc }: Addressed): boolean {
  return to.length + cc.length > 0;
}

const timeMs = z
  .string()
  .transform(readTimeMs)
  .nullish()
  .transform((ms) => ms ?? null);

const total = lenient(
  z.object({ totalItems: z.number().int().min(0) }).transform(({ totalItems }) => totalItems),
);

const attachment = z.object({
  mediaType: words,
  url: z.string().min(1),
  name: words,
  summary: words,
  width: lenient(z.number().positive()),
  height: lenient(z.number().positive()),
});

/** A picture, a video or a sound. */
export type AttachmentPayload = z.output<typeof attachment>;

const mention = z.object({
  type: z.literal('Mention'),
  href: z.string(),
  name: z.string().min(1),
});

/** An account that a post mentions. */
export type MentionPayload = z.output<typeof mention>;

const choice = z.object({ name: z.string(), replies: total });

const note = z.object({
  id: z.string().min(1),
  type: z.string(),
  ...addressed,
  published: timeMs,
  url: words,
  content: lenient(z.string()),
  contentMap: lenient(z.record(z.string(), z.unknown())),
  summary: words,
  sensitive: lenient(z.boolean()),
  inReplyTo: words,
  tag: eachOf(mention),
  attachment: eachOf(attachment),
  oneOf: lenient(z.array(choice)),
  anyOf: lenient(z.array(choice)),
  endTime: words,
  closed: words,
  votersCount: lenient(z.number().int().min(0)),
  likes: total,
  shares: total,
});

/** A post. */
export type NotePayload = z.output<typeof note>;

const create = z.object({
  type: z.literal('Create'),
  ...addressed,
  published: timeMs,
  object: note,
});

const announced = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]);

const announce = z.object({
  type: z.literal('Announce'),
  ...addressed,
  published: timeMs,
  object: announced,
});

/** A boost. */
export type AnnouncePayload = z.output<typeof announce>;

/** An entry of `outbox.json`. */
export const activity = z.discriminatedUnion('type', [create, announce]);

/** An entry of `outbox.json`. */
export type ActivityPayload = z.output<typeof activity>;

const picture = lenient(z.object({ url: z.string() }).transform(({ url }) => url));

/** `actor.json`. */
export const actor = z.object({
  id: z.url({ protocol: /^https$/ }),
  preferredUsername: z.string().min(1),
  name: words,
  summary: words,
  url: words,
  icon: picture,
  image: picture,
  published: words,
  movedTo: words,
  attachment: eachOf(
    z.object({ type: z.literal('PropertyValue'), name: z.string(), value: z.string() }),
  ),
});

/** `actor.json`. */
export type ActorPayload = z.output<typeof actor>;
