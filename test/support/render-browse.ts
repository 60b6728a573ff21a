import type { Account } from '../../src/model/account.ts';
import type { Post, Status } from '../../src/model/post.ts';
import type { ListResult, ListSubject } from '../../src/model/results.ts';
import { ada } from './render-posts.ts';

const read = {
  kind: 'browse',
  urls: {
    self: 'https://perch.example/api/v1/search?q=heron',
    first: 'https://perch.example/api/v1/search?q=heron',
    previous: null,
  },
  freshSeconds: 300,
  profile: null,
  page: 1,
  limit: 20,
  next: null,
  warnings: [],
  degraded: false,
  fetchedAt: '2026-03-05T10:00:00.000Z',
  source: 'archive',
  full: false,
} as const;

/** Creates the result of a profile read. `null` for a profile without posts. */
export function profileResult(
  posts: readonly Post[] | null,
  told: Partial<ListResult> = {},
  profile: Account = ada,
): ListResult {
  const { screen_name: handle, url } = profile;
  const items = posts === null ? null : { posts };
  return { ...read, subject: { resource: 'profile', handle, url }, profile, items, ...told };
}

/** Creates the result of a followers or following read of the sample. */
export function connectionsResult(
  resource: 'followers' | 'following',
  users: readonly Account[],
  told: Partial<ListResult> = {},
): ListResult {
  const subject = { resource, handle: ada.screen_name, url: ada.url };
  return { ...read, subject, items: { users }, ...told };
}

/** Creates the result of a replies read. `null` if the source has not sent the post. */
export function repliesResult(
  answered: Status | null,
  posts: readonly Post[],
  told: Partial<ListResult> = {},
): ListResult {
  const subject = {
    resource: 'replies',
    id: answered?.id ?? '900',
    url: answered?.url ?? 'https://x.com/i/status/900',
    handle: answered?.author.screen_name ?? null,
    answered,
  } as const;
  return { ...read, subject, items: { posts }, ...told };
}

/** Creates the result of a search for the latest posts. Overrides can set another feed. */
export function searchResult(
  query: string,
  posts: readonly Post[],
  told: Partial<ListResult> = {},
): ListResult {
  return { ...read, subject: searchFor(query), items: { posts }, ...told };
}

/** Creates the result of an account search. */
export function userSearchResult(
  query: string,
  users: readonly Account[],
  told: Partial<ListResult> = {},
): ListResult {
  return { ...read, subject: searchFor(query, 'users'), items: { users }, ...told };
}

type SearchSubject = Extract<ListSubject, { resource: 'search' }>;

/** Creates the subject of a search. */
export function searchFor(query: string, feed: SearchSubject['feed'] = 'latest'): SearchSubject {
  return { resource: 'search', query, feed };
}

/** Creates the link to the next page as reads do. */
export function nextPage(path: string, parameters: Readonly<Record<string, string>>) {
  const cursor = 'c3Vubnk.eyJwIjoyfQ_-';
  const query = new URLSearchParams({ ...parameters, cursor });
  return { cursor, url: `https://perch.example${path}?${query}` };
}
