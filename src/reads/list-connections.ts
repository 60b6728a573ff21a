import { z } from 'zod';
import { accountSubject } from '../fetching/plan.ts';
import { profileUrl } from '../model/reference.ts';
import { browseReply } from '../model/results.ts';
import { handleParam, listParams, toAccountReference, understandPage } from './browse.ts';
import { parseParameters } from './parameters.ts';
import type { Read } from './read.ts';

/** The parameters of both lists of connections. */
const connectionsParams = z.object({ handle: handleParam, ...listParams });

/** Reads who follows an account. */
export const listFollowers: Read = createConnectionsRead('followers', {
  name: 'listFollowers',
  summary: 'Lists the accounts that follow an account.',
  tool: 'list_followers',
});

/** Reads whom an account follows. */
export const listFollowing: Read = createConnectionsRead('following', {
  name: 'listFollowing',
  summary: 'Lists the accounts that an account follows.',
  tool: 'list_following',
});

function createConnectionsRead(
  resource: 'followers' | 'following',
  about: Pick<Read, 'name' | 'summary' | 'tool'>,
): Read {
  return {
    ...about,
    kind: 'browse',
    isBrowse: true,
    params: connectionsParams,
    requires: [],
    reply: browseReply,
    understand: (given, context) => {
      const params = parseParameters(connectionsParams, given);
      const account = toAccountReference(params.handle);
      const { platform, handle } = account;
      const url = profileUrl(platform, handle, context.baseUrl);
      const target = {
        subject: { resource, handle, url },
        cacheSubject: accountSubject(platform, handle),
        profile: null,
        list: { kind: resource, account },
        identity: [resource, platform, handle],
        path: `/profiles/${encodeURIComponent(handle)}/${resource}`,
        parameters: {},
        freshness: 'list',
      } as const;
      return understandPage(target, params, context);
    },
  };
}
