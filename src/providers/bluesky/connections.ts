import { mapInSlices, type Sliced } from '../../core/scheduling/slices.ts';
import type { Account } from '../../model/account.ts';
import type { ConnectionsQuery, Page } from '../../model/queries.ts';
import { createMalformed } from '../failure.ts';
import type { ProviderContext } from '../provider.ts';
import { countSent, parseRows } from '../rows.ts';
import { shapeAccount } from './account.ts';
import { judgeAccount, refuseAccount } from './labels.ts';
import { tellAccountsLeftOut } from './left-out.ts';
import { type ActorPayload, parseActor } from './payload.ts';
import { nextCursor, type Reading, uniqueBy, writeLimit } from './reading.ts';

/** Answers both kinds of query. */
type AskConnections = (query: ConnectionsQuery, context: ProviderContext) => Promise<Page<Account>>;

const lists = {
  followers: { method: 'app.bsky.graph.getFollowers', field: 'followers' },
  following: { method: 'app.bsky.graph.getFollows', field: 'follows' },
} as const;

/** Makes the read of a page of followers or of those that an account follows, as the query says. */
export function askConnections(reading: Reading): AskConnections {
  return async ({ kind, account, count, cursor }, context) => {
    const { client, known, clock } = reading;
    const { method, field } = lists[kind];
    const actor = known.actorFor(account.handle);
    const body = await client.query(method, { actor, limit: writeLimit(count), cursor }, context);
    const subject = parseActor(body.subject);
    if (subject === null) throw createMalformed();
    const withheld = judgeAccount(subject, clock.now());
    if (withheld !== null) throw refuseAccount(withheld);
    known.note(account.handle, subject);
    const found = await toAccounts(body[field], clock.now(), context);
    return { ...found, cursor: nextCursor(body.cursor, cursor) };
  };
}

/**
 * Gives the accounts of a list that the public may see.
 *
 * @throws ProviderError `malformed` where there is no list
 */
export async function toAccounts(
  list: unknown,
  nowMs: number,
  sliced: Sliced,
): Promise<Omit<Page<Account>, 'cursor'>> {
  const found = await parseRows(list, parseActor, sliced);
  if (found === null) throw createMalformed();
  const { rows, unreadable, beyond } = found;
  const judge = (actor: ActorPayload) => judgeAccount(actor, nowMs);
  const privates = rows.filter((actor) => judge(actor) === 'signed-in').length;
  const shown = rows.filter((actor) => judge(actor) === null);
  const moderated = rows.length - shown.length - privates;
  return {
    items: await mapInSlices(
      uniqueBy(shown, ({ did }) => did),
      shapeAccount,
      sliced,
    ),
    rows: countSent(found),
    warnings: tellAccountsLeftOut({ private: privates, moderated, unreadable, beyond }),
  };
}
