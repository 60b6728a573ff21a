import { mapWithPauses } from '../../core/scheduling/map-with-pauses.ts';
import type { Account } from '../../model/account.ts';
import type { ConnectionsQuery, Page } from '../../model/queries.ts';
import { shapeAccount } from '../../platforms/bluesky/account.ts';
import { describeLabels, restrictionOf } from '../../platforms/bluesky/labels.ts';
import { type ActorPayload, parseActor } from '../../platforms/bluesky/payload.ts';
import { createMalformed, throwIfMissing } from '../failure.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { countSent, parseRows, uniqueBy } from '../rows.ts';
import { type BlueskyClient, nextCursor, writeLimit } from './client.ts';
import { describeHidden, toRestrictedError } from './labels.ts';

export function askProfile(client: BlueskyClient): Ask<'profile'> {
  return async ({ account }, context) => {
    const profile = await readProfile(client, account.handle, context);
    return {
      account: shapeAccount(profile),
      warnings: describeLabels(profile, client.clock.now()),
    };
  };
}

/** Reads a profile. Throws ProviderError `missing` if it does not exist or must not be shown. */
async function readProfile(client: BlueskyClient, handle: string, context: ProviderContext) {
  const actor = client.known.actorFor(handle);
  const profile = parseActor(await client.query('app.bsky.actor.getProfile', { actor }, context));
  if (profile === null) throw createMalformed();
  acceptAccount(client, handle, profile);
  return profile;
}

/** Caches an account's DID. Throws ProviderError `missing` if the account's labels hide it. */
export function acceptAccount(
  { known, clock }: BlueskyClient,
  handle: string,
  actor: ActorPayload,
): void {
  const restriction = restrictionOf(actor, clock.now());
  if (restriction !== null) throw toRestrictedError(restriction);
  known.note(handle, actor);
}

/** Throws ProviderError `missing` for a missing or hidden account. Ignores other ProviderErrors. */
export const explainAbsence = (client: BlueskyClient, handle: string, context: ProviderContext) =>
  throwIfMissing(readProfile(client, handle, context), context);

const lists = {
  followers: { method: 'app.bsky.graph.getFollowers', field: 'followers' },
  following: { method: 'app.bsky.graph.getFollows', field: 'follows' },
} as const;

export function askConnections(client: BlueskyClient) {
  return async (query: ConnectionsQuery, context: ProviderContext): Promise<Page<Account>> => {
    const { kind, account, count, cursor } = query;
    const { method, field } = lists[kind];
    const actor = client.known.actorFor(account.handle);
    const body = await client.query(method, { actor, limit: writeLimit(count), cursor }, context);
    const subject = parseActor(body.subject);
    if (subject === null) throw createMalformed();
    acceptAccount(client, account.handle, subject);
    const found = await toAccounts(body[field], client.clock.now());
    return { ...found, cursor: nextCursor(body.cursor, cursor) };
  };
}

export function askSearchUsers({ query, clock }: BlueskyClient): Ask<'searchUsers'> {
  return async ({ text, count, cursor }, context) => {
    const parameters = { q: text, limit: writeLimit(count), cursor };
    const body = await query('app.bsky.actor.searchActors', parameters, context);
    const found = await toAccounts(body.actors, clock.now());
    return { ...found, cursor: nextCursor(body.cursor, cursor) };
  };
}

/** Converts accounts except hidden ones. Throws ProviderError `malformed` if `list` is no array. */
export async function toAccounts(
  list: unknown,
  nowMs: number,
): Promise<Omit<Page<Account>, 'cursor'>> {
  const found = await parseRows(list, parseActor);
  if (found === null) throw createMalformed();
  const reasons = found.rows.map((actor) => restrictionOf(actor, nowMs));
  const shown = uniqueBy(
    found.rows.filter((_, at) => reasons[at] === null),
    ({ did }) => did,
  );
  return {
    items: await mapWithPauses(shown, shapeAccount),
    rows: countSent(found),
    warnings: describeHidden(reasons, found, 'account'),
  };
}
