import { Problem } from '../core/problem.ts';
import { postSubject } from '../fetching/cache/subjects.ts';
import type { Plan } from '../fetching/plan.ts';
import type { PostQuery } from '../model/queries.ts';
import type { PostReference } from '../model/reference.ts';

/** What is wanted around a post, and whether the cache may answer. */
export interface PostWish extends Pick<PostQuery, 'thread' | 'replies'> {
  readonly useCache: boolean;
}

/** Gives the plan that fetches a post. */
export function toPostPlan(post: PostReference, wish: PostWish): Plan {
  const { thread, replies, useCache } = wish;
  const subject = postSubject(post);
  const query: PostQuery = { kind: 'post', post, thread, replies };
  return { query, subject, key: `${subject} ${thread} ${replies}`, freshness: 'post', useCache };
}

/** Gives the problem of a post URL that is absent or empty. */
export function missingUrl(url: string | undefined): Problem {
  const fault = url === undefined ? 'is missing' : 'is empty';
  return new Problem('missing_url', {
    detail: `The parameter \`url\` ${fault}; it takes the URL of a post.`,
  });
}
