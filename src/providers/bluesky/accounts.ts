import { mapInSlices, type Sliced } from '../../core/scheduling/slices.ts';
import { type Account, toAccount, toWebsite } from '../../model/account.ts';
import type { ConnectionsQuery, Page } from '../../model/queries.ts';
import { webUrlOrNull } from '../../platforms/text.ts';
import { toIsoTime } from '../../platforms/times.ts';
import { createMalformed, throwIfMissing } from '../failure.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { countSent, parseRows, uniqueBy } from '../rows.ts';
import { nextCursor, type Reading, writeLimit } from './client.ts';
import { judgeAccount, refuseAccount, tellLabels, tellWithheld } from './labels.ts';
import { type ActorPayload, blueskyProfileUrl, parseActor } from './payload.ts';

export function askProfile(reading: Reading): Ask<'profile'> {
  return async ({ account }, context) => {
    const profile = await readProfile(reading, account.handle, context);
    return { account: shapeAccount(profile), warnings: tellLabels(profile, reading.clock.now()) };
  };
}

/** @throws ProviderError `missing` also for an account that is for those who are signed in */
async function readProfile(reading: Reading, handle: string, context: ProviderContext) {
  const actor = reading.known.actorFor(handle);
  const profile = parseActor(await reading.query('app.bsky.actor.getProfile', { actor }, context));
  if (profile === null) throw createMalformed();
  admitAccount(reading, handle, profile);
  return profile;
}

/** Notes an account that was read. Throws ProviderError `missing` if it is not served. */
export function admitAccount({ known, clock }: Reading, handle: string, actor: ActorPayload): void {
  const withheld = judgeAccount(actor, clock.now());
  if (withheld !== null) throw refuseAccount(withheld);
  known.note(handle, actor);
}

/** Looks for the reason of an absent list. Throws ProviderError `missing` if there is one. */
export function explainAbsence(reading: Reading, handle: string, context: ProviderContext) {
  return throwIfMissing(readProfile(reading, handle, context), context);
}

const lists = {
  followers: { method: 'app.bsky.graph.getFollowers', field: 'followers' },
  following: { method: 'app.bsky.graph.getFollows', field: 'follows' },
} as const;

export function askConnections(reading: Reading) {
  return async (query: ConnectionsQuery, context: ProviderContext): Promise<Page<Account>> => {
    const { kind, account, count, cursor } = query;
    const { method, field } = lists[kind];
    const actor = reading.known.actorFor(account.handle);
    const body = await reading.query(method, { actor, limit: writeLimit(count), cursor }, context);
    const subject = parseActor(body.subject);
    if (subject === null) throw createMalformed();
    admitAccount(reading, account.handle, subject);
    const found = await toAccounts(body[field], reading.clock.now(), context);
    return { ...found, cursor: nextCursor(body.cursor, cursor) };
  };
}

export function askSearchUsers({ query, clock }: Reading): Ask<'searchUsers'> {
  return async ({ text, count, cursor }, context) => {
    const parameters = { q: text, limit: writeLimit(count), cursor };
    const body = await query('app.bsky.actor.searchActors', parameters, context);
    const found = await toAccounts(body.actors, clock.now(), context);
    return { ...found, cursor: nextCursor(body.cursor, cursor) };
  };
}

/** Returns the accounts of a list that the public may see. Throws ProviderError `malformed`. */
export async function toAccounts(
  list: unknown,
  nowMs: number,
  sliced: Sliced,
): Promise<Omit<Page<Account>, 'cursor'>> {
  const found = await parseRows(list, parseActor, sliced);
  if (found === null) throw createMalformed();
  const verdicts = found.rows.map((actor) => judgeAccount(actor, nowMs));
  const shown = uniqueBy(
    found.rows.filter((_, at) => verdicts[at] === null),
    ({ did }) => did,
  );
  return {
    items: await mapInSlices(shown, shapeAccount, sliced),
    rows: countSent(found),
    warnings: tellWithheld(verdicts, found, 'account'),
  };
}

const handleForm = /^[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+$/;

/** Returns the handle of an account; its DID if the handle is not known to be its own. */
export function nameOf({ did, handle }: Pick<ActorPayload, 'did' | 'handle'>): string {
  return handle === 'handle.invalid' || !handleForm.test(handle) ? did : handle;
}

export function shapeAccount(actor: ActorPayload): Account {
  const screenName = nameOf(actor);
  return toAccount({
    id: actor.did,
    screen_name: screenName,
    name: actor.displayName?.trim() || screenName,
    url: blueskyProfileUrl(screenName),
    description: actor.description,
    avatar_url: webUrlOrNull(actor.avatar),
    banner_url: webUrlOrNull(actor.banner),
    website: toWebsite(webUrlOrNull(actor.website)),
    followers: actor.followersCount,
    following: actor.followsCount,
    statuses: actor.postsCount,
    joined: toIsoTime(actor.createdAt),
    verification: { verified: isVerified(actor), type: null },
    platform: 'bluesky',
  });
}

/** An account that may verify others counts as verified, as in the app. */
function isVerified({ verification }: ActorPayload): boolean {
  return (
    verification?.verifiedStatus === 'valid' || verification?.trustedVerifierStatus === 'valid'
  );
}
