import type { TimelineQuery } from '../../model/queries.ts';
import type { Ask } from '../provider.ts';
import { countSent } from '../rows.ts';
import type { Accounts } from './accounts.ts';
import { isOwn } from './identity.ts';
import { dropLater, readBefore } from './jump.ts';
import { readPosts, shapeListed, tellCopies, tellUnread, toLimit, writeCursor } from './rows.ts';

/** Makes the read of a page of a timeline. Pages are short where the server leaves something out. */
export function askTimeline(accounts: Accounts): Ask<'timeline'> {
  return async (query, context) => {
    const { handle } = query.account;
    const { home } = await accounts.locate(handle, context);
    const page = await readBefore(query, async (cursor) => {
      const toPath = ({ id }: { readonly id: string }) =>
        `/api/v1/accounts/${id}/statuses?${toParameters({ ...query, cursor })}`;
      const { reply } = await accounts.readList(handle, toPath, context);
      return readPosts(reply, toLimit(query.count), context);
    });
    const own = page.rows.filter(({ account }) => isOwn(account));
    const listed = await shapeListed(dropLater(own, query.untilSeconds), home, context);
    // Some servers know the API and not this parameter.
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
        ...tellForeign(page.rows.length - own.length),
        ...tellUnread(page, 'post'),
      ],
    };
  };
}

/** A timeline holds posts and boosts by its account; a row of another server is not believed. */
function tellForeign(count: number): readonly string[] {
  if (count === 0) return [];
  const rows = count === 1 ? '1 post is' : `${count} posts are`;
  return [`${rows} left out, because the author is no account of this server.`];
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
