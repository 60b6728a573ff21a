import * as z from 'zod';
import { accountSubject } from '../fetching/plan.ts';
import { Problem } from '../lib/problem.ts';
import { profileUrl } from '../model/addresses/urls.ts';
import {
  createListRead,
  handleParam,
  type ListTarget,
  listParams,
  toAccountReference,
} from './list.ts';
import { flag, timestamp } from './parameters.ts';
import type { PlanContext } from './read.ts';

const params = z.object({
  handle: handleParam,
  with_replies: flag(false).describe('Includes the account’s replies to others.'),
  with_reposts: flag(false).describe(
    'Includes reposts: posts that the account reposted, with their original author and time.',
  ),
  only_media: flag(false).describe('Omits posts without a photo, video or audio of their own.'),
  include_posts: flag(true).describe('`false`: omits the posts of the account.'),
  until: timestamp('Only posts before this time'),
  ...listParams,
});

type Params = z.output<typeof params>;

export const getProfile = createListRead(
  {
    name: 'getProfile',
    title: 'Get a profile with its posts',
    topic: 'profiles',
    summary: 'Reads a public profile and its posts, newest first.',
    tool: 'get_profile',
    isBrowse: true,
    params,
  },
  toTarget,
);

function refuseOptionsOfPosts(params: Params): void {
  if (params.include_posts) return;
  const { cursor, page, until, with_replies, with_reposts, only_media } = params;
  const options = { cursor, page, until, with_replies, with_reposts, only_media };
  const given = Object.entries(options).find(([, value]) => value !== undefined && value !== false);
  if (given === undefined) return;
  const detail = `The parameter \`${given[0]}\` applies to posts, which \`include_posts=false\` leaves out.`;
  throw new Problem('invalid_option', { detail, param: given[0] });
}

function toTarget(params: Params, { baseUrl }: PlanContext): ListTarget<Params> {
  refuseOptionsOfPosts(params);
  const account = toAccountReference(params.handle);
  const { platform, handle } = account;
  const { with_replies, with_reposts, only_media, include_posts: hasPosts } = params;
  const untilSeconds = params.until ?? null;
  const included = { withReplies: with_replies, withReposts: with_reposts, onlyMedia: only_media };
  const options = { ...included, untilSeconds };
  return {
    subject: { resource: 'profile', handle, url: profileUrl(platform, handle, baseUrl) },
    cacheSubject: accountSubject(platform, handle),
    profile: { kind: 'profile', account },
    list: hasPosts ? { kind: 'timeline', account, ...options } : null,
    path: `/profiles/${encodeURIComponent(handle)}`,
    parameters: { ...params, handle: undefined },
  };
}
