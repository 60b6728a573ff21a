import { mapInSlices } from '../../../core/scheduling/slices.ts';
import type { Account } from '../../../model/account.ts';
import type { ConnectionsQuery, Page } from '../../../model/queries.ts';
import { createMalformed, throwIfMissing } from '../../failure.ts';
import type { ProviderContext } from '../../provider.ts';
import { countSent, tellUnread, uniqueById } from '../../rows.ts';
import type { Upstream } from '../../upstream.ts';
import { parseUser } from '../payload.ts';
import { type Profiles, profilePath } from '../profile.ts';
import { shapeAccount } from '../shape.ts';
import { nextCursor, readList, toPaging, writeCount } from './list.ts';

/** A cursor of accounts that begins so is at the end of the list. */
const endPrefix = '0|';

export function askConnections(upstream: Upstream, profiles: Profiles) {
  return async (query: ConnectionsQuery, context: ProviderContext): Promise<Page<Account>> => {
    const { kind, count, cursor } = query;
    const { handle } = query.account;
    const request = {
      path: `${profilePath(handle)}/${kind}`,
      parameters: { count: writeCount(count), cursor },
      parseRow: parseUser,
    };
    const page = await readList(upstream, request, context);
    if (page.is === 'absent') throw await profiles.explainAbsence(handle, context);
    if (page.is === 'refused') throw createMalformed();
    const named = nextCursor(page, cursor);
    const next = named?.startsWith(endPrefix) ? null : named;
    // The list of a protected account is as empty as that of one that nobody follows.
    const isBare = countSent(page) === 0 && cursor === null && next === null;
    if (isBare) await throwIfMissing(profiles.read(handle, context), context);
    return {
      items: await mapInSlices(uniqueById(page.rows), shapeAccount, context),
      ...toPaging(page, { cursor: next }),
      warnings: tellUnread(page, 'account'),
    };
  };
}
