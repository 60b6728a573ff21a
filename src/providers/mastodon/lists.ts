import type { Account } from '../../model/account.ts';
import type { ConnectionsQuery, Page, TimelineQuery } from '../../model/queries.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { countSent, tellOmitted } from '../rows.ts';
import type { Accounts } from './accounts.ts';
import { isOwn } from './identity.ts';
import { parseAccount } from './payload.ts';
import {
  dropLater,
  readBefore,
  readPosts,
  readRows,
  shapeAccounts,
  shapeListed,
  tellCopies,
  tellUnread,
  toLimit,
  writeCursor,
} from './rows.ts';

/** Creates the read of a page of a timeline. Pages are short where the server leaves something out. */
export function askTimeline(accounts: Accounts): Ask<'timeline'> {
  return async (query, context) => {
    const { handle } = query.account;
    const { home } = await accounts.locate(handle, context);
    const page = await readBefore(query, async (cursor) => {
      const parameters = toParameters({ ...query, cursor });
      const toPath = ({ id }: { readonly id: string }) =>
        `/api/v1/accounts/${id}/statuses?${parameters}`;
      const { reply } = await accounts.readList(handle, toPath, context);
      return readPosts(reply, toLimit(query.count), context);
    });
    // A timeline has posts and boosts by its account; a row of another server is not believed.
    const own = page.rows.filter(({ account }) => isOwn(account));
    const foreign = page.rows.length - own.length;
    const listed = await shapeListed(dropLater(own, query.untilSeconds), home, context);
    // Some servers know the API and not the parameter for media.
    const items = listed.posts.filter(
      ({ media }) => query.onlyMedia !== true || media.all.length > 0,
    );
    return {
      items,
      cursor: page.next,
      rows: countSent(page),
      warnings: [
        ...tellCopies(items, home),
        ...listed.warnings,
        ...tellOmitted(foreign, 'post', ['the author is no account of this server']),
        ...tellUnread(page, 'post'),
      ],
    };
  };
}

function toParameters(query: TimelineQuery): string {
  const { count, cursor, withReplies, withReposts, onlyMedia = false } = query;
  return [
    `limit=${toLimit(count)}`,
    ...(withReplies ? [] : ['exclude_replies=true']),
    ...(withReposts ? [] : ['exclude_reblogs=true']),
    ...(onlyMedia ? ['only_media=true'] : []),
    ...writeCursor(cursor),
  ].join('&');
}

/** Accounts on a page: the default of servers, and the maximum. */
const [usualCount, maxCount] = [40, 80];

export function askConnections(accounts: Accounts) {
  return async (query: ConnectionsQuery, context: ProviderContext): Promise<Page<Account>> => {
    const { kind, count, cursor } = query;
    const limit = count <= usualCount ? usualCount : maxCount;
    const parameters = [`limit=${limit}`, ...writeCursor(cursor)].join('&');
    const { account, reply } = await accounts.readList(
      query.account.handle,
      ({ id }) => `/api/v1/accounts/${id}/${kind}?${parameters}`,
      context,
    );
    const page = await readRows(reply, parseAccount, context);
    const isHidden = account.hidesLists && page.rows.length === 0 && cursor === null;
    const { items, warnings } = await shapeAccounts(page, account.home, context);
    return {
      items,
      cursor: page.next,
      rows: countSent(page),
      warnings: [...(isHidden ? ['The owner of this account hides this list.'] : []), ...warnings],
    };
  };
}
