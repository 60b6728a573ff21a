import { z } from 'zod';
import {
  lenient,
  listOf,
  text,
  textOrNull,
  token,
  tokenOrNull,
  url,
  urlOrNull,
} from '../../../platforms/lenient.ts';
import { maximums } from '../../../platforms/maximums.ts';
import { readTimeMs } from '../../../platforms/times.ts';

/**
 * Schemas of the files in a Mastodon export. `actor.json` contains the account. `outbox.json` contains the account's
 * posts (`Create`) and boosts (`Announce`), including non-public posts. Media URLs lack the host. For files on the
 * account's own server, they also lack the leading `/system/`.
 * Sources: https://docs.joinmastodon.org/spec/activitypub/ and Mastodon's `app/services/backup_service.rb`
 */

/**
 * Values of the ActivityPub fields `to` and `cc` that address a post to everyone. Source:
 * https://www.w3.org/TR/activitypub/#public-addressing
 */
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

type Addressed = { readonly to: readonly unknown[]; readonly cc: readonly unknown[] };

/** Returns whether an activity or a post is addressed to everyone. */
export const isPublic = ({ to, cc }: Addressed): boolean =>
  [...to, ...cc].some((recipient) => publicNames.has(recipient));

export const namesRecipients = ({ to, cc }: Addressed): boolean => to.length + cc.length > 0;

const timeMs = token
  .transform(readTimeMs)
  .nullish()
  .transform((ms) => ms ?? null);

const total = lenient(
  z.object({ totalItems: z.number().int().min(0) }).transform(({ totalItems }) => totalItems),
);

const attachment = z.object({
  mediaType: tokenOrNull,
  url,
  name: textOrNull,
  summary: textOrNull,
  width: lenient(z.number().positive()),
  height: lenient(z.number().positive()),
});

const mention = z.object({ type: z.literal('Mention'), href: url, name: token.min(1) });
export type MentionPayload = z.output<typeof mention>;

const choice = z.object({ name: text, replies: total });
const allChoices = listOf(choice, maximums.choices);

/** Schema of the choices of a poll. The output is `null` for posts without a poll. */
const choices = z
  .unknown()
  .optional()
  .transform((value) => (Array.isArray(value) ? allChoices.parse(value) : null));

const note = z.object({
  id: url,
  type: token,
  ...addressed,
  published: timeMs,
  updated: timeMs,
  url: urlOrNull,
  content: lenient(text),
  contentMap: lenient(z.looseObject({})),
  summary: textOrNull,
  sensitive: lenient(z.boolean()),
  inReplyTo: urlOrNull,
  tag: listOf(mention, maximums.facets),
  attachment: listOf(attachment, maximums.media),
  oneOf: choices,
  anyOf: choices,
  endTime: tokenOrNull,
  closed: tokenOrNull,
  votersCount: lenient(z.number().int().min(0)),
  likes: total,
  shares: total,
});

export type NotePayload = z.output<typeof note>;

const announced = z.union([url, z.object({ id: url }).transform(({ id }) => id)]);

const dated = { ...addressed, published: timeMs };

/** Schema of an entry of `outbox.json`: a post or a boost. */
export const activity = z.discriminatedUnion('type', [
  z.object({ type: z.literal('Create'), ...dated, object: note }),
  z.object({ type: z.literal('Announce'), ...dated, object: announced }),
]);

export type ActivityPayload = z.output<typeof activity>;

const picture = lenient(z.object({ url }).transform((image) => image.url));

export const actor = z.object({
  id: z.url({ protocol: /^https$/ }).max(maximums.url),
  preferredUsername: token.min(1),
  name: textOrNull,
  summary: textOrNull,
  url: urlOrNull,
  icon: picture,
  image: picture,
  published: tokenOrNull,
  movedTo: urlOrNull,
  attachment: listOf(
    z.object({ type: z.literal('PropertyValue'), name: text, value: text }),
    maximums.fields,
  ),
});

export type ActorPayload = z.output<typeof actor>;
