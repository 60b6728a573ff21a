import { mapInSlices } from '../../../core/scheduling/slices.ts';
import type { Account } from '../../../model/account.ts';
import type { ConnectionsQuery, Page } from '../../../model/queries.ts';
import { ProviderError } from '../../../platforms/provider-error.ts';
import { createMalformed } from '../../failure.ts';
import type { ProviderContext } from '../../provider.ts';
import { countSent } from '../../rows.ts';
import type { Upstream } from '../../upstream.ts';
import { shapeAccount } from '../account.ts';
import { uniqueById } from '../conversation.ts';
import { parseUser, type UserPayload } from '../payload.ts';
import { type Profiles, profilePath } from '../profile.ts';
import { tellUnread } from '../rows.ts';
import { tellThrottled } from '../throttle.ts';
import { type ListPage, nextCursor, readList, toPaging, writeCount } from './list.ts';

/** Answers both kinds of query. */
type AskConnections = (query: ConnectionsQuery, context: ProviderContext) => Promise<Page<Account>>;

/** Makes the read of a page of followers or of those that an account follows, as the query says. */
export function askConnections(upstream: Upstream, profiles: Profiles): AskConnections {
  return async (query, context) => {
    const page = await readList(upstream, toRequest(query), context);
    switch (page.is) {
      case 'page':
        if (isBare(page, query)) await refuseHidden(query, { profiles, context });
        return {
          items: await mapInSlices(uniqueById(page.rows), shapeAccount, context),
          ...toPaging(page, { cursor: nextUserCursor(page, query.cursor) }),
          warnings: tellUnread(page, 'account'),
        };
      case 'absent':
        throw await profiles.explainAbsence(query.account.handle, context);
      case 'refused':
        throw createMalformed();
    }
  };
}

/** Tells whether a list has no row and no way on, from its beginning. */
function isBare(page: ListPage<UserPayload>, { cursor }: ConnectionsQuery): boolean {
  return countSent(page) === 0 && cursor === null && nextUserCursor(page, cursor) === null;
}

interface Look {
  readonly profiles: Profiles;
  readonly context: ProviderContext;
}

/** The list of a protected account is as empty as that of one that nobody follows (section 7). */
async function refuseHidden({ account }: ConnectionsQuery, { profiles, context }: Look) {
  try {
    await profiles.read(account.handle, context);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind === 'missing') throw error;
    tellThrottled(context, error); // the list has been read, and what the profile would say is not known
  }
}

function toRequest({ kind, account, count, cursor }: ConnectionsQuery) {
  return {
    path: `${profilePath(account.handle)}/${kind}`,
    parameters: { count: writeCount(count), cursor },
    field: 'results',
    parseRow: parseUser,
  } as const;
}

/** A cursor of accounts that begins so stands at the end of the list (FxTwitter, section 6). */
const endPrefix = '0|';

function nextUserCursor(page: ListPage<UserPayload>, sent: string | null): string | null {
  const next = nextCursor(page, sent);
  return next?.startsWith(endPrefix) ? null : next;
}
