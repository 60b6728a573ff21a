import { mapWithPauses } from '../../lib/scheduling/map.ts';
import type { Account } from '../../model/account.ts';
import type { ConnectionsQuery, Page } from '../../model/queries.ts';
import {
  describeLabels,
  type Restriction,
  restrictionOf,
  shapeAccount,
} from '../../normalize/bluesky/account.ts';
import { type ActorPayload, parseActor } from '../../normalize/bluesky/wire.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { createMalformed, throwIfMissing } from '../failure.ts';
import type { Fetch, ProviderContext } from '../provider.ts';
import {
  countSent,
  describeOmitted,
  describeUnread,
  parseRows,
  type Rows,
  uniqueBy,
} from '../rows.ts';
import { type BlueskyClient, nextCursor, writeLimit } from './client.ts';

export function fetchProfile(client: BlueskyClient): Fetch<'profile'> {
  return async ({ account }, context) => {
    const profile = await readProfile(client, account.handle, context);
    return {
      account: shapeAccount(profile),
      warnings: describeLabels(profile, client.clock.now()),
    };
  };
}

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

export function fetchConnections(client: BlueskyClient) {
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

export function fetchSearchUsers({ query, clock }: BlueskyClient): Fetch<'searchUsers'> {
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

const accountSentences: Readonly<Record<Restriction, string>> = {
  'signed-in': 'This account asks not to be shown to people who are not signed in to Bluesky.',
  suspended: 'Bluesky has suspended this account.',
  'taken-down': 'Bluesky has suspended this account.',
  hidden: 'Bluesky’s moderation hides this account.',
};

const toRestrictedError = (restriction: Restriction): ProviderError =>
  new ProviderError('missing', accountSentences[restriction]);

const signedIn = 'not to be shown to people who are not signed in';

const omissions = {
  post: [`its author asks ${signedIn}`, `their authors ask ${signedIn}`],
  account: [`it asks ${signedIn}`, `they ask ${signedIn}`],
} as const;

/** Returns one warning, with a number, for each reason why posts or accounts are missing. */
export function describeHidden(
  restrictions: readonly (Restriction | null)[],
  unread: Pick<Rows<unknown>, 'unreadable' | 'excess'>,
  noun: keyof typeof omissions,
): readonly string[] {
  const omitted = restrictions.filter((restriction) => restriction !== null);
  const privates = omitted.filter((restriction) => restriction === 'signed-in').length;
  const hides = 'Bluesky’s moderation hides';
  return [
    ...describeOmitted(privates, noun, omissions[noun]),
    ...describeOmitted(omitted.length - privates, noun, [`${hides} it`, `${hides} them`]),
    ...describeUnread(unread, noun),
  ];
}
