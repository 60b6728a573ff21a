import * as z from 'zod';
import { accountSubject } from '../fetching/plan.ts';
import { profileUrl } from '../model/addresses/urls.ts';
import { accountFormats } from '../model/results.ts';
import { createListRead, handleParam, listParams, toAccountReference } from './list.ts';
import { optionalChoice } from './parameters.ts';
import type { Read } from './read.ts';

const format = optionalChoice('invalid_format', accountFormats).describe(
  'Default: the format that `Accept` prefers, or `markdown`.',
);
const params = z.object({ handle: handleParam, ...listParams, format });

export const listFollowers = createConnectionsRead('followers', {
  name: 'listFollowers',
  title: 'List the followers of an account',
  summary: 'Lists the accounts that follow an account.',
  tool: 'list_followers',
});

export const listFollowing = createConnectionsRead('following', {
  name: 'listFollowing',
  title: 'List the accounts that an account follows',
  summary: 'Lists the accounts that an account follows.',
  tool: 'list_following',
});

function createConnectionsRead(
  resource: 'followers' | 'following',
  about: Pick<Read, 'name' | 'title' | 'summary' | 'tool'>,
): Read {
  return createListRead(
    { ...about, topic: 'follows', isBrowse: true, params },
    (given, { baseUrl }) => {
      const account = toAccountReference(given.handle);
      const { platform, handle } = account;
      return {
        subject: { resource, handle, url: profileUrl(platform, handle, baseUrl) },
        cacheSubject: accountSubject(platform, handle),
        list: { kind: resource, account },
        path: `/profiles/${encodeURIComponent(handle)}/${resource}`,
        parameters: { ...given, handle: undefined },
      };
    },
  );
}
