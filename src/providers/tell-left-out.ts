import type { Account } from '../model/account.ts';
import type { Post } from '../model/post.ts';
import { maximums } from '../platforms/maximums.ts';

/** What is missing where a member of a post or an account is named in `left_out`. */
const nouns: Readonly<Record<string, string>> = {
  text: 'text',
  content_warning: 'content warning',
  community_note: 'community note',
  source: 'name of the client',
  card: 'link preview',
  article: 'article',
  media: 'media',
  facets: 'links and styles',
  mentions: 'mentions',
  poll: 'poll',
  community: 'community',
  tags: 'hashtags',
  reactions: 'reactions',
  quote: 'quotes within quotes',
  labels: 'labels',
  name: 'name',
  description: 'description',
  location: 'location',
};

/** Returns a warning for each member that is not whole in some posts or accounts of an answer. */
export function tellLeftOut(
  posts: readonly Post[],
  accounts: readonly Account[],
): readonly string[] {
  const all = posts.flatMap(withQuotes);
  const authors = new Set(all.flatMap(accountsOf));
  return [...tellEach(all, 'post'), ...tellEach([...authors, ...accounts], 'account')];
}

function withQuotes(post: Post): readonly Post[] {
  return post.type === 'status' && post.quote !== null ? [post, ...withQuotes(post.quote)] : [post];
}

function accountsOf(post: Post): readonly Account[] {
  const reposter = post.type === 'status' ? post.reposted_by : null;
  return [post.author, reposter].filter((account) => account !== null);
}

function tellEach(rows: readonly (Post | Account)[], noun: 'post' | 'account'): readonly string[] {
  const counts = new Map<string, number>();
  for (const name of rows.flatMap((row) => ('left_out' in row ? (row.left_out ?? []) : []))) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => {
    const rows = count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
    return `In ${rows}, part of the ${nouns[name] ?? name} is missing: the source sent more than Perch reads, or something unreadable.`;
  });
}

/** Returns the warning for rows beyond the maximum of a list. */
export function tellBeyond(count: number, noun: 'post' | 'account'): readonly string[] {
  if (count === 0) return [];
  const rows = count === 1 ? `1 ${noun} is` : `${count} ${noun}s are`;
  return [`${rows} left out, because a list of more than ${maximums.rows} is not read to its end.`];
}
