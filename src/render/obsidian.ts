import { createRequire } from 'node:module';
import type { Steps } from '../core/scheduling/slices.ts';
import { trimEndOf } from '../core/trim-end.ts';
import type { Post, Status } from '../model/post.ts';
import type { PostResult } from '../model/results.ts';
import { toLine } from './markdown/characters.ts';
import { renderPostPage, titlePostPage } from './markdown/post-page.ts';
import { toThread } from './markdown/thread.ts';

/** Renders a post read as a note for a vault: YAML front matter, then the Markdown page. Each post is a step. */
export function* renderPostNote(result: PostResult): Steps<string> {
  const page = yield* renderPostPage(result);
  return `${renderFrontMatter(toProperties(result))}\n${page}`;
}

/** Returns the name of the file of a note: the title of the page, which the first words of the post tell from others. */
export function nameNote(result: PostResult): string {
  return `${toFileName(titlePostPage(result)) || 'post'}.md`;
}

/** Returns properties as YAML front matter, with its line of dashes before and after. */
export function renderFrontMatter(properties: Readonly<Record<string, unknown>>): string {
  return `---\n${loadYaml().stringify(properties, { lineWidth: 0 })}---\n`;
}

/** Loads the package with the first note, because it takes as long to load as all of Perch. */
const loadYaml: () => typeof import('yaml') = () => createRequire(import.meta.url)('yaml');

/** What is not known is left out; the key order is the order of the note's properties. */
function toProperties(result: PostResult): Readonly<Record<string, unknown>> {
  const { asked } = toThread(result.posts);
  const status = asked?.type === 'status' ? asked : undefined;
  return withoutUnknown({
    title: titlePostPage(result),
    ...describeAuthor(asked),
    url: result.url,
    copied_from: status?.copied_from?.host,
    created: status?.created_at,
    edited: status?.edited_at,
    platform: asked?.platform,
    lang: status?.lang,
    tags: status === undefined ? undefined : tagsOf(status),
    post_count: result.posts.length,
    fetched_at: result.fetchedAt,
    source: result.source,
    ...(result.full && status !== undefined ? metricsOf(status) : {}),
  });
}

function describeAuthor(post: Post | undefined): Readonly<Record<string, unknown>> {
  const author = post?.author ?? null;
  return author === null ? {} : { author: toLine(author.name), handle: toLine(author.screen_name) };
}

function metricsOf(post: Status): Readonly<Record<string, unknown>> {
  return { replies: post.replies, reposts: post.reposts, likes: post.likes, views: post.views };
}

function withoutUnknown(
  properties: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(properties).filter(([, value]) => value !== null && value !== undefined),
  );
}

/** Returns a post's hashtags as Obsidian takes them (letters, digits, `_`, `-`, not only digits), if it has any. */
function tagsOf(post: Status): string[] | undefined {
  const points = [...post.text];
  const tags = new Map<string, string>();
  const marked = post.facets.filter(({ type }) => type === 'hashtag');
  const shown = marked.map(({ start, end }) => points.slice(start, end).join(''));
  for (const text of [...shown, ...(post.tags ?? [])]) {
    const tag = text.replace(/[^\p{L}\p{N}\p{M}_-]/gu, '');
    const key = tag.toLowerCase();
    if (/[^\p{N}]/u.test(tag) && !tags.has(key)) tags.set(key, tag);
  }
  return tags.size === 0 ? undefined : [...tags.values()];
}

/** Maximum size of a file's name without its ending: file systems take 255 bytes. */
const maxBytes = 200;

/** Characters that file systems or the links of notes give a meaning, and those that nobody sees. */
const unusable = /[\\/:*?"<>|#^[\]\p{C}]+/gu;

/** Returns a file's name for a title, without an ending: at most 200 bytes of UTF-8, as file systems take them. */
export function toFileName(title: string): string {
  const plain = title.replace(unusable, ' ').replace(/\s+/g, ' ');
  return trimEndOf(cutBytes(plain.replace(/^[. ]+/, '')), '. …');
}

function cutBytes(text: string): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  let bytes = 0;
  const points = [...text.slice(0, maxBytes)];
  const end = points.findIndex((point) => {
    bytes += Buffer.byteLength(point);
    return bytes > maxBytes;
  });
  return points.slice(0, end < 0 ? undefined : end).join('');
}
