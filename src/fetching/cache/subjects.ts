import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import {
  type AccountReference,
  identifyPost,
  type PostReference,
  platform as platforms,
} from '../../model/reference.ts';
import type { ListItem, ListPart } from '../lists/fetch-page.ts';
import { accountSubject, type Found } from '../plan.ts';

export const postSubject = (post: PostReference): string => `post ${identifyPost(post)}`;

export function referenceOfSubject(subject: string): PostReference | AccountReference | null {
  const [word, name, handle, id] = subject.split(' ');
  const platform = platforms.safeParse(name).data;
  if (platform === undefined || handle === undefined) return null;
  if (word === 'account') return { platform, handle };
  return word === 'post' && id !== undefined ? { platform, handle, id } : null;
}

/** Returns the keys of all posts and accounts in a result. A deletion of one evicts the result. */
export function subjectsOf(found: Found | ListPart): readonly string[] {
  const subjects = new Set<string>();
  for (const item of itemsOf(found)) {
    if ('screen_name' in item) addAccount(subjects, item);
    else addPost(subjects, item);
  }
  return [...subjects];
}

function itemsOf(found: Found | ListPart): readonly ListItem[] {
  if ('post' in found) {
    return [...found.ancestors, found.post, ...found.continuation, ...found.replies];
  }
  if ('profile' in found) return [found.profile.account];
  const page = 'page' in found ? found.page : found;
  const account = 'page' in found ? null : found.account;
  return [account ?? [], page.answered ?? [], page.items].flat();
}

function addPost(subjects: Set<string>, post: Post): void {
  const { id, platform, author } = post;
  if (id !== null) {
    for (const handle of author === null ? [null] : namesOf(author)) {
      subjects.add(postSubject({ platform, handle, id }));
    }
  }
  if (author !== null) addAccount(subjects, author);
  if (post.type === 'status' && post.quote !== null) addPost(subjects, post.quote);
}

function addAccount(subjects: Set<string>, account: Account): void {
  for (const name of namesOf(account)) subjects.add(accountSubject(account.platform, name));
}

function namesOf({ screen_name, id }: Account): readonly string[] {
  const handle = screen_name.toLowerCase();
  return id.startsWith('did:') ? [...new Set([handle, id])] : [handle];
}

/** Returns a post's key: the id if it is unique, else the URL or the id; `null` without. */
export const postKey = ({ platform, id, url }: Post): string | null =>
  platform === 'bluesky' || platform === 'mastodon' ? (url ?? id) : id;
