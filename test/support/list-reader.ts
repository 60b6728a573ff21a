import type { Status } from '../../src/model/post.ts';
import type { ListResult } from '../../src/model/results.ts';
import type { Reader } from '../../src/reads/run.ts';
import { profileResult } from './render-browse.ts';

/** List of posts that a test changes. */
export interface ListedPosts {
  /** Posts, newest first. */
  posts: readonly Status[];
  /** Post at the top of the first page, regardless of its place in `posts`. */
  pinned: Status | null;
  /** Error of the next reads. */
  error: Error | null;
  degraded: boolean;
  /** Number of pages read so far. */
  pages: number;
}

/** Creates a list, and a reader that reads it page by page for every request. The cursor is the id of the last post. */
export function createListReader(posts: readonly Status[]) {
  const list: ListedPosts = { posts, pinned: null, error: null, degraded: false, pages: 0 };
  const fetchPage = async (given: Readonly<Record<string, unknown>>): Promise<ListResult> => {
    list.pages += 1;
    if (list.error !== null) throw list.error;
    const { limit, cursor } = given;
    const others = list.posts.filter((post) => post !== list.pinned);
    const start = cursor === undefined ? 0 : others.findIndex(({ id }) => id === cursor) + 1;
    const page = others.slice(start, start + Number(limit));
    const last = page.at(-1);
    const hasNext = last !== undefined && others.at(-1) !== last;
    const top = cursor === undefined && list.pinned !== null ? [list.pinned] : [];
    return profileResult([...top, ...page], {
      next: hasNext ? { cursor: last.id, url: 'https://perch.example' } : null,
      degraded: list.degraded,
    });
  };
  const stub = {
    parse: (_read: unknown, given: object) => given,
    fetch: fetchPage,
    assemble: (page: ListResult) => page,
  };
  // The stub passes its own values between these functions in place of the reader's.
  return { list, reader: stub as unknown as Reader };
}
