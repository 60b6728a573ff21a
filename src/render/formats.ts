import type { Format, PostResult } from '../model/results.ts';
import { renderPostJson } from './json.ts';
import { renderPostPage } from './markdown/post-page.ts';
import { renderPostNote } from './obsidian.ts';

/** A representation of a post read. */
export interface PostFormat {
  /** The value of `Content-Type`. */
  readonly mediaType: string;
  /** Gives the body. Never fails. */
  readonly render: (result: PostResult) => string;
}

/** Every representation of a post read, by the value of the `format` parameter. */
export const formats = {
  markdown: { mediaType: 'text/markdown; charset=utf-8', render: renderPostPage },
  json: { mediaType: 'application/json; charset=utf-8', render: renderPostJson },
  obsidian: { mediaType: 'text/markdown; charset=utf-8', render: renderPostNote },
} as const satisfies Readonly<Record<Format, PostFormat>>;
