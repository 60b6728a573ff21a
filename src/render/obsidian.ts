import { toFileId, trimEndOf } from '../lib/text.ts';
import type { Status } from '../model/post.ts';
import type { PostPage } from '../model/results.ts';
import { toLine } from './markdown/characters.ts';
import { separateTemplates } from './markdown/layout.ts';
import { renderPostPage, titlePostPage } from './markdown/post-page.ts';
import { toThread } from './markdown/thread.ts';
import { listTags } from './summary.ts';

/** Renders an Obsidian note: YAML front matter, then Markdown. */
export function renderPostNote(result: PostPage): string {
  const page = renderPostPage(result);
  return `${renderFrontMatter(toProperties(result))}\n${page}`;
}

export interface NoteNames {
  /** Name from the title; posts with the same title share it. */
  readonly readable: string;
  /** ASCII name with the id of the post, unique within the account. */
  readonly ascii: string;
}

export function toNoteFileNames(result: PostPage): NoteNames {
  const title = titlePostPage(result);
  const { main } = toThread(result.posts);
  const id = toFileId(main?.id ?? result.url);
  const maxTitle = maxBytes - id.length - 1;
  const ascii =
    toFileName(spellInAscii(title) ?? '', maxTitle) ||
    toFileName(main?.author?.screen_name.replace(notAscii, ' ') ?? '', maxTitle) ||
    'post';
  return { readable: `${toFileName(title, maxBytes) || 'post'}.md`, ascii: `${ascii} ${id}.md` };
}

/** Renders YAML between lines of dashes. Texts are one line, and stay texts in YAML 1.1. */
export function renderFrontMatter(properties: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(properties).map(([name, value]) =>
    Array.isArray(value)
      ? `${name}:\n${value.map((item) => `  - ${toScalar(item)}\n`).join('')}`
      : `${name}: ${toScalar(value)}\n`,
  );
  return `---\n${lines.join('')}---\n`;
}

/** Texts that YAML reads as something else, or as two, without quotes (YAML 1.2.2 §7.3.3). */
const ambiguous =
  /^(?!\p{L})|: | #|:$|^(?:y|n|yes|no|on|off|true|false|null|nan|inf|infinity|e[-+]?[\d_]+)$/iu;

function toScalar(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  const text = separateTemplates(toLine(value.replace(invisible, '')));
  if (!ambiguous.test(text)) return text;
  return text.includes('"') && !text.includes("'") ? `'${text}'` : JSON.stringify(text);
}

const invisible =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]|(?<![\u{1f3f4}\u{e0020}-\u{e007f}])[\u{e0000}-\u{e007f}]+/gu;

function toProperties(result: PostPage): Readonly<Record<string, unknown>> {
  const { main } = toThread(result.posts);
  const author = main?.author;
  const status = main?.type === 'status' ? main : undefined;
  const metrics = result.full ? status : undefined;
  const properties = {
    title: titlePostPage(result),
    author: author?.name,
    handle: author?.screen_name,
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

function tagsOf(post: Status): readonly string[] | undefined {
  const tags = listTags(post, toTag);
  return tags.length === 0 ? undefined : tags;
}

/** Returns a tag that Obsidian accepts; an empty string for a number. */
function toTag(written: string): string {
  const tag = written.replace(/[^\p{L}\p{N}\p{M}_-]/gu, '');
  return /[^\p{N}]/u.test(tag) ? tag : '';
}

const maxBytes = 200; // maximum length of a file name; file systems allow 255 bytes

const unusable = /[\\/:*?"<>|#^[\]\p{C}]+/gu;

const reserved = /^(?:con|prn|aux|nul|(?:com|lpt)[\d¹²³]|conin\$|conout\$) ?(?:\.|$)/iu;

function toFileName(title: string, most: number): string {
  const plain = title.replace(unusable, ' ').replace(/\s+/g, ' ');
  const bytes = Buffer.from(plain.replace(/^[-~. ]+/, '')).subarray(0, most);
  // With `stream` the decoder omits an incomplete character at the end.
  const name = trimEndOf(new TextDecoder().decode(bytes, { stream: true }), '. …');
  return reserved.test(name) ? `_${name}` : name;
}

const notAscii = /[^ -~]|[%;]/gu;

function spellInAscii(title: string): string | null {
  const letters = title.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[‘’]/g, "'");
  return /[\p{L}\p{N}]/u.test(letters.replace(/[ -~]/g, ''))
    ? null
    : letters.replace(notAscii, ' ');
}
