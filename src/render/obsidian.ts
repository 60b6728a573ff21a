import { createRequire } from 'node:module';
import type { Steps } from '../core/scheduling/slices.ts';
import { trimEndOf } from '../core/trim-end.ts';
import type { Status } from '../model/post.ts';
import type { PostResult } from '../model/results.ts';
import { toLine } from './markdown/characters.ts';
import { renderPostPage, titlePostPage } from './markdown/post-page.ts';
import { toThread } from './markdown/thread.ts';

/**
 * Renders a post with its thread as an Obsidian note (YAML front matter and Markdown). The
 * generator yields after each post to let other tasks run.
 */
export function* renderPostNote(result: PostResult): Steps<string> {
  const page = yield* renderPostPage(result);
  return `${renderFrontMatter(toProperties(result))}\n${page}`;
}

export const toNoteFileName = (result: PostResult): string =>
  `${toFileName(titlePostPage(result)) || 'post'}.md`;

/** Renders properties as YAML front matter between lines of dashes. */
export const renderFrontMatter = (properties: Readonly<Record<string, unknown>>): string =>
  `---\n${loadYaml().stringify(properties, { lineWidth: 0 })}---\n`;

/** Loads the `yaml` package only when it is needed, because the package is slow to load. */
const loadYaml: () => typeof import('yaml') = () => createRequire(import.meta.url)('yaml');

function toProperties(result: PostResult): Readonly<Record<string, unknown>> {
  const { main } = toThread(result.posts);
  const author = main?.author;
  const status = main?.type === 'status' ? main : undefined;
  const metrics = result.full ? status : undefined;
  const properties = {
    title: titlePostPage(result),
    author: author && toLine(author.name),
    handle: author && toLine(author.screen_name),
    url: result.url,
    copied_from: status?.copied_from?.host,
    created: status?.created_at,
    edited: status?.edited_at,
    platform: main?.platform,
    lang: status?.lang,
    tags: status && tagsOf(status),
    post_count: result.posts.length,
    fetched_at: result.fetchedAt,
    source: result.source,
    replies: metrics?.replies,
    reposts: metrics?.reposts,
    likes: metrics?.likes,
    views: metrics?.views,
  };
  return Object.fromEntries(
    Object.entries(properties).filter(([, value]) => (value ?? null) !== null),
  );
}

/** Returns a post's hashtags without characters that Obsidian forbids in tags; `undefined` if there are none. */
function tagsOf(post: Status): string[] | undefined {
  const points = [...post.text];
  const tags = new Map<string, string>();
  const hashtags = post.facets.filter(({ type }) => type === 'hashtag');
  const inText = hashtags.map(({ start, end }) => points.slice(start, end).join(''));
  for (const text of [...inText, ...(post.tags ?? [])]) {
    const tag = text.replace(/[^\p{L}\p{N}\p{M}_-]/gu, '');
    const key = tag.toLowerCase();
    if (/[^\p{N}]/u.test(tag) && !tags.has(key)) tags.set(key, tag);
  }
  return tags.size === 0 ? undefined : [...tags.values()];
}

const maxBytes = 200; // maximum length of a file name; file systems allow 255 bytes

/**
 * Pattern of invisible characters, and of characters with a special meaning in file names or in
 * links between Obsidian notes.
 */
const unusable = /[\\/:*?"<>|#^[\]\p{C}]+/gu;

function toFileName(title: string): string {
  const plain = title.replace(unusable, ' ').replace(/\s+/g, ' ');
  const bytes = Buffer.from(plain.replace(/^[. ]+/, '')).subarray(0, maxBytes);
  // With `stream` the decoder omits an incomplete character at the end.
  return trimEndOf(new TextDecoder().decode(bytes, { stream: true }), '. …');
}
