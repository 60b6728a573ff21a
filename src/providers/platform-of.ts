import type { Query } from '../model/queries.ts';

/** Returns the platform that a query is about; of a search, what it asks. */
export function platformOf(query: Query): string {
  switch (query.kind) {
    case 'post':
    case 'replies':
      return query.post.platform;
    case 'profile':
    case 'timeline':
    case 'followers':
    case 'following':
      return query.account.platform;
    case 'search':
    case 'searchUsers':
      return query.platform;
  }
}
