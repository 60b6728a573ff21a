import { z } from 'zod';
import { addressed, idOf, note, timeMs } from '../../../normalize/activitypub/wire.ts';
import {
  lenient,
  listOf,
  text,
  textOrNull,
  token,
  tokenOrNull,
  url,
  urlOrNull,
} from '../../../normalize/lenient.ts';
import { maximums } from '../../../normalize/maximums.ts';

/**
 * Schemas of the exports of Mastodon, Akkoma and Pleroma. `actor.json` contains the account,
 * `outbox.json` its posts (`Create`) and boosts (`Announce`), also non-public ones. In exports of
 * Mastodon, media URLs lack the host, and for files on the account's own server also the leading
 * `/system/`. Sources: https://docs.joinmastodon.org/spec/activitypub/ and Mastodon's
 * `app/services/backup_service.rb`
 */

const dated = { ...addressed, published: timeMs };

/** Entry of `outbox.json`: a post or a boost. */
export const activity = z.discriminatedUnion('type', [
  z.object({ type: z.literal('Create'), ...dated, object: note }),
  z.object({ type: z.literal('Announce'), ...dated, object: idOf }),
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
