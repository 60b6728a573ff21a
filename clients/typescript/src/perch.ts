import { checkAddress } from './address.ts';
import type {
  Account,
  AccountsParameters,
  BrowseReply,
  EmbedParameters,
  EmbedReply,
  HistoryIndexEntry,
  HistoryParameters,
  Post,
  PostParameters,
  PostReply,
  ProfileParameters,
  RepliesParameters,
  SearchParameters,
} from './generated.ts';
import { createHistory, type History } from './history.ts';
import { createList, type List } from './lists.ts';
import type { CallOptions, PerchOptions } from './options.ts';
import type { Surface } from './pacing.ts';
import { createReader, type Query, type Reader } from './reads.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createTransport } from './transport.ts';

/** Handle of the author of a post, and id of the post. */
export interface PostAddress {
  readonly handle?: string | undefined;
  readonly id: string;
}

/** Client of a Perch server. */
export interface Perch {
  readonly posts: {
    /** Reads a post with its thread, by the URL of the post, or by handle and id. @throws PerchError */
    get(
      post: string | URL | Required<PostAddress>,
      parameters?: PostParameters,
      call?: CallOptions,
    ): Promise<PostReply>;
    /** Lists the replies to a post. `handle` is required unless the post is on X. */
    replies(post: PostAddress, parameters?: RepliesParameters, call?: CallOptions): List<Post>;
    /** Returns the oEmbed document of a post, for embedding it in a web page. */
    embed(url: string | URL, parameters?: EmbedParameters, call?: CallOptions): Promise<EmbedReply>;
  };
  readonly profiles: {
    /** Reads an account with the first page of its posts. @throws PerchError */
    get(handle: string, parameters?: ProfileParameters, call?: CallOptions): Promise<BrowseReply>;
    /** Lists the posts of an account, newest first. */
    posts(handle: string, parameters?: ProfileParameters, call?: CallOptions): List<Post>;
    /** Lists the accounts that follow an account. */
    followers(handle: string, parameters?: AccountsParameters, call?: CallOptions): List<Account>;
    /** Lists the accounts that an account follows. */
    following(handle: string, parameters?: AccountsParameters, call?: CallOptions): List<Account>;
    /** Reads up to 5,000 posts of an account with one request. Yields each post as soon as the server sends it. */
    history(
      handle: string,
      parameters?: HistoryParameters & { readonly index?: false | undefined },
      call?: CallOptions,
    ): History<Post>;
    /** Reads the ids, URLs and times of up to 5,000 posts of an account. */
    history(
      handle: string,
      parameters: HistoryParameters & { readonly index: true },
      call?: CallOptions,
    ): History<HistoryIndexEntry>;
  };
  readonly search: {
    /** Searches posts. */
    posts(
      q: string,
      parameters?: Omit<SearchParameters, 'feed'> & {
        readonly feed?: Exclude<SearchParameters['feed'], 'users'>;
      },
      call?: CallOptions,
    ): List<Post>;
    /** Searches accounts. */
    users(
      q: string,
      parameters?: Omit<SearchParameters, 'feed'>,
      call?: CallOptions,
    ): List<Account>;
  };
  readonly sessions: Sessions;
}

/**
 * Creates a client of a Perch server. It sends no request before you call a method or iterate over a list.
 * @throws TypeError if an address in the options is not an http or https URL
 */
export function createPerch(given: PerchOptions): Perch {
  const { sessionsUrl } = given ?? {};
  const options: PerchOptions = {
    ...given,
    baseUrl: checkAddress('baseUrl', given?.baseUrl),
    sessionsUrl: sessionsUrl === undefined ? undefined : checkAddress('sessionsUrl', sessionsUrl),
  };
  const transport = createTransport(options);
  const reader = createReader(transport, options);
  return {
    posts: createPosts(reader),
    profiles: createProfiles(reader),
    search: createSearch(reader),
    sessions: createSessions(transport, options),
  };
}

const postsOf = ({ posts }: BrowseReply) => posts;
const usersOf = ({ users }: BrowseReply) => users;

/**
 * Creates a read operation for the API path `path` (without `/api/v1`). `surface`: group of
 * operations with a common rate limit.
 */
const toRead = (operation: string, path: string, query: object, surface: Surface = 'browse') => ({
  operation,
  path: `/api/v1${path}`,
  query: query as Query, // the interfaces of parameters have only such members
  surface,
});

function createPosts(reader: Reader): Perch['posts'] {
  return {
    get: (post, parameters, call) => {
      const address = isUrl(post) ? { url: String(post) } : post;
      const query = { ...parameters, ...address };
      return reader.read(toRead('getPost', '/posts', query, 'post'), call);
    },
    replies: ({ id, handle }, parameters, call) => {
      const path = `/posts/${encodeURIComponent(id)}/replies`;
      const read = toRead('listReplies', path, { ...parameters, handle }, 'post');
      return createList(reader, { read, pick: postsOf, call });
    },
    embed: (url, parameters, call) => {
      const query = { ...parameters, url: String(url) };
      return reader.read(toRead('getOEmbed', '/oembed', query, 'post'), call);
    },
  };
}

const isUrl = (post: string | URL | Required<PostAddress>): post is string | URL =>
  typeof post === 'string' || post instanceof URL;

function createProfiles(reader: Reader): Perch['profiles'] {
  const toPath = (handle: string) => `/profiles/${encodeURIComponent(handle)}`;
  return {
    get: (handle, parameters = {}, call) =>
      reader.read(toRead('getProfile', toPath(handle), parameters), call),
    posts: (handle, parameters = {}, call) => {
      const read = toRead('getProfile', toPath(handle), parameters);
      return createList(reader, { read, pick: postsOf, call });
    },
    followers: (handle, parameters = {}, call) => {
      const read = toRead('listFollowers', `${toPath(handle)}/followers`, parameters);
      return createList(reader, { read, pick: usersOf, call });
    },
    following: (handle, parameters = {}, call) => {
      const read = toRead('listFollowing', `${toPath(handle)}/following`, parameters);
      return createList(reader, { read, pick: usersOf, call });
    },
    history: <Item extends Post | HistoryIndexEntry>(
      handle: string,
      parameters: HistoryParameters = {},
      call?: CallOptions,
    ): History<Item> => {
      const read = toRead('importProfilePosts', `${toPath(handle)}/posts`, parameters);
      return createHistory<Item>(reader, { ...read, format: 'ndjson' }, call);
    },
  };
}

function createSearch(reader: Reader): Perch['search'] {
  return {
    posts: (q, parameters, call) => {
      const read = toRead('searchPosts', '/search', { ...parameters, q });
      return createList(reader, { read, pick: postsOf, call });
    },
    users: (q, parameters, call) => {
      const read = toRead('searchPosts', '/search', { ...parameters, q, feed: 'users' });
      return createList(reader, { read, pick: usersOf, call });
    },
  };
}
