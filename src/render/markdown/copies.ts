import type { CopiedFrom } from '../../model/copied-from.ts';
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
 * Returns a title as plain text, after `Copy from host: ` where the post is a copy. That comes first,
 * because whoever shows a title may cut it, and a name can be long.
 */
export function titleCopy(post: Post, title: string): string {
  const source = post.type === 'status' ? post.copied_from : undefined;
  return source === undefined ? title : `Copy from ${toLine(source.host)}: ${title}`;
}
