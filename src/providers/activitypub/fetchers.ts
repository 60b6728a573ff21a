import { createSignedGet } from '../../lib/http/request-signatures.ts';
import { createAskHost } from '../hosts.ts';
import type { Provider } from '../provider.ts';
import { createAccounts, fetchProfile } from './accounts.ts';
import { createReadPart } from './collections.ts';
import { createConversations } from './conversation.ts';
import { createObjects } from './fetch-object.ts';
import type { ActivityPubOptions } from './index.ts';
import { fetchConnections, fetchTimeline } from './lists.ts';
import { createPosts } from './posts.ts';
import { fetchPost, fetchReplies } from './thread.ts';

/** Creates the functions that answer queries, from a module that is loaded on demand. */
export function createFetchers({ http, signingKey, ...options }: ActivityPubOptions) {
  const { clock, readTimeoutMs } = options;
  const get = signingKey ? createSignedGet(http, signingKey, clock) : http.get;
  const askHost = createAskHost({ ...options, get });
  const objects = createObjects({ askHost, isSigned: get !== http.get });
  const accounts = createAccounts(objects, clock);
  const posts = createPosts(objects, accounts);
  const partMs = Math.ceil(readTimeoutMs * shareOfParts);
  const lists = { objects, accounts, posts, readPart: createReadPart(objects), partMs };
  const sources = { ...lists, conversations: createConversations(lists, clock) };
  const connections = fetchConnections(sources);
  return {
    post: fetchPost(sources),
    replies: fetchReplies(sources),
    profile: fetchProfile(accounts, objects),
    timeline: fetchTimeline(sources),
    followers: connections,
    following: connections,
  } satisfies Provider['fetch'];
}

/** Share of a read's time for the parts of the answer that other servers send. */
const shareOfParts = 0.6;
