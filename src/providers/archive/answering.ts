import { parseUrl } from '../../core/url.ts';
import type { Account } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';

/**
 * Tells whether a post is the one that a reply answers, where the reply names its id. On X and in the
 * sample an id is enough. Bluesky's are unique for an account, and the reply names the account by handle
 * or by id; Mastodon's are unique for a server.
 */
export function isAnswered(post: Post, reply: Post): boolean {
  switch (post.platform) {
    case 'x':
    case 'sample':
      return true;
    case 'bluesky':
      return isNamed(post.author, targetOf(reply)?.screen_name ?? null);
    case 'mastodon': {
      const target = targetOf(reply);
      const host = hostOf(target?.url ?? null);
      if (host !== null && host === hostOf(post.url)) return true;
      return isNamed(post.author, target?.screen_name ?? null);
    }
  }
}

/** What stands for a lost post does not say whom it answered. */
function targetOf(reply: Post): Status['replying_to'] {
  return reply.type === 'status' ? reply.replying_to : null;
}

function isNamed(author: Account | null, name: string | null): boolean {
  if (author === null || name === null) return false;
  return [author.screen_name, author.id].some((own) => own?.toLowerCase() === name.toLowerCase());
}

function hostOf(url: string | null): string | null {
  return url === null ? null : (parseUrl(url)?.host ?? null);
}
