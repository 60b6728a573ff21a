import type { CopiedFrom } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import { toLine } from './characters.ts';
import { link } from './links.ts';

/** A post or an account, which may be a copy that another server than its own has sent. */
interface MaybeCopy {
  readonly copied_from?: CopiedFrom | undefined;
}

/** Returns `copied from [host](url)` as Markdown; `null` for what is no copy. */
export function linkCopy({ copied_from: source }: MaybeCopy): string | null {
  return source === undefined ? null : `copied from ${link(source.host, source.url)}`;
}

/**
 * Returns the start of the title of a copy: `Copy from host: `; empty for any other post. It comes first,
 * because programs that show a title may cut it, and a name can be long.
 */
export function copyPrefix(post: Post, toText: (host: string) => string): string {
  const source = post.type === 'status' ? post.copied_from : undefined;
  return source === undefined ? '' : `Copy from ${toText(source.host)}: `;
}

/** Returns a title as plain text, with the `copyPrefix` of the post. */
export function titleCopy(post: Post, title: string): string {
  return `${copyPrefix(post, toLine)}${title}`;
}
