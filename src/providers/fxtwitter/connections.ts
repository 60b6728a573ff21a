import type { Account } from '../../model/account.ts';
import { createMalformed } from '../failure.ts';
import type { ConnectionsQuery, Page, ProviderContext } from '../provider.ts';
import type { Upstream } from '../upstream.ts';
import { shapeAccount } from './account.ts';
import { uniqueById } from './conversation.ts';
import { countRows, type ListPage, nextCursor, readList, writeCount } from './list.ts';
import { parseUser, type UserPayload } from './payload.ts';
import { type Profiles, profilePath } from './profile.ts';
import { tellUnreadable } from './rows.ts';

/** Answers both kinds of query. */
type AskConnections = (query: ConnectionsQuery, context: ProviderContext) => Promise<Page<Account>>;

/** Makes the read of a page of followers or of those that an account follows, as the query says. */
export function askConnections(upstream: Upstream, profiles: Profiles): AskConnections {
  return async (query, context) => {
    const page = await readList(upstream, toRequest(query), context.signal);
    switch (page.is) {
      case 'page':
        return {
          items: uniqueById(page.rows).map(shapeAccount),
          cursor: nextUserCursor(page, query.cursor),
          rows: countRows(page),
          warnings: tellUnreadable(page, 'account'),
        };
      case 'absent':
        throw await profiles.explainAbsence(query.account.handle, context);
      case 'refused':
        throw createMalformed();
    }
  };
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
