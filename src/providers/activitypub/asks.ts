import type { Provider } from '../provider.ts';
import { askProfile, createAccounts } from './accounts.ts';
import { createReadPart } from './collections.ts';
import { createObjects } from './fetch-object.ts';
import type { ActivityPubOptions } from './index.ts';
import { askConnections, askTimeline } from './lists.ts';
import { createPosts } from './posts.ts';
import { askPost, askReplies } from './thread.ts';

/** Creates the functions that answer queries, from a module that is loaded on demand. */
export function createAsks({ http, clock, askHost, readTimeoutMs }: ActivityPubOptions) {
  const objects = createObjects({ get: http.get, clock, askHost });
  const accounts = createAccounts(objects, clock);
  const posts = createPosts(objects, accounts);
  const partMs = Math.ceil(readTimeoutMs * shareOfParts);
  const sources = { objects, accounts, posts, readPart: createReadPart(objects), partMs };
  const connections = askConnections(sources);
  return {
    post: askPost(sources),
    replies: askReplies(sources),
    profile: askProfile(accounts, objects),
    timeline: askTimeline(sources),
    followers: connections,
    following: connections,
  } satisfies Provider['ask'];
}

/** Share of a read's time for the parts of the answer that other servers send. */
const shareOfParts = 0.6;
