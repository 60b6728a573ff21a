import { mapInSlices } from '../../core/scheduling/slices.ts';
import type { Account } from '../../model/account.ts';
import type { ConnectionsQuery, Page } from '../../model/queries.ts';
import type { ProviderContext } from '../provider.ts';
import { countSent } from '../rows.ts';
import { shapeAccount } from './account.ts';
import type { Accounts, LocatedAccount } from './accounts.ts';
import { parseAccount } from './payload.ts';
import {
  readRows,
  tellCopiedAccounts,
  tellSuspended,
  tellUnread,
  withoutSuspended,
  writeCursor,
} from './rows.ts';

/** Answers both kinds of query. */
type AskConnections = (query: ConnectionsQuery, context: ProviderContext) => Promise<Page<Account>>;

/** Accounts on a page: what servers give unasked, and the most. */
const [usualCount, maxCount] = [40, 80];

const hidden = 'The owner of this account hides this list.';

/** Makes the read of a page of followers or of those that an account follows, as the query says. */
export function askConnections(accounts: Accounts): AskConnections {
  return async (query, context) => {
    const { account, reply } = await accounts.readList(
      query.account.handle,
      (located) => toPath(query, located),
      context,
    );
    const page = await readRows(reply, parseAccount, context);
    const isHidden = account.hidesLists && page.rows.length === 0 && query.cursor === null;
    const shown = withoutSuspended(page.rows);
    const items = await mapInSlices(shown, (row) => shapeAccount(row, account.home), context);
    return {
      items,
      cursor: page.next,
      rows: countSent(page),
      warnings: [
        ...(isHidden ? [hidden] : []),
        ...tellCopiedAccounts(items, account.home),
        ...tellSuspended(page.rows),
        ...tellUnread(page, 'account'),
      ],
    };
  };
}

function toPath({ kind, count, cursor }: ConnectionsQuery, { id }: LocatedAccount): string {
  const limit = count <= usualCount ? usualCount : maxCount;
  return `/api/v1/accounts/${id}/${kind}?${[`limit=${limit}`, ...writeCursor(cursor)].join('&')}`;
}
