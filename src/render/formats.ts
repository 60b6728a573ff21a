import { createHash } from 'node:crypto';
import { type Format, isFeedFormat, type Result } from '../model/results.ts';
import type { RenderContext } from './context.ts';
import { createFeedRenderer, feedMediaTypes, postsOf } from './feeds/feeds.ts';
import { toFormatUrl } from './feeds/urls.ts';
import { fitResult } from './fit.ts';
import {
  renderBrowseData,
  renderBrowseJson,
  renderEmbedJson,
  renderPostData,
  renderPostJson,
} from './json.ts';
import { renderBrowsePage } from './markdown/browse-page.ts';
import { renderPostPage } from './markdown/post-page.ts';
import { type NoteNames, renderPostNote, toNoteFileNames } from './obsidian.ts';
import { renderHtmlPage, toPageHeaders } from './page/page.ts';
import { renderPreviewPage } from './preview-page.ts';

interface ResultFormat<Of extends Result> {
  readonly mediaType: string;
  readonly render: (result: Of, context: RenderContext) => string;
  readonly toFileNames?: (result: Of) => NoteNames;
  /** Returns additional response headers with lower-case names. */
  readonly toHeaders?: (result: Of, context: RenderContext) => Readonly<Record<string, string>>;
}

const markdown = 'text/markdown; charset=utf-8';
const json = 'application/json; charset=utf-8';
const html = 'text/html; charset=utf-8';
const page = { mediaType: html, render: renderHtmlPage, toHeaders: toPageHeaders };

const feeds = {
  atom: { mediaType: feedMediaTypes.atom, render: createFeedRenderer('atom') },
  rss: { mediaType: feedMediaTypes.rss, render: createFeedRenderer('rss') },
  jsonfeed: { mediaType: feedMediaTypes.jsonfeed, render: createFeedRenderer('jsonfeed') },
} as const;

/** Output formats of each kind of result, by the parameter `format`. */
export const formats = {
  post: {
    markdown: { mediaType: markdown, render: renderPostPage },
    json: { mediaType: json, render: renderPostJson },
    data: { mediaType: json, render: renderPostData },
    obsidian: { mediaType: markdown, render: renderPostNote, toFileNames: toNoteFileNames },
    html: page,
    preview: { mediaType: html, render: renderPreviewPage },
    ...feeds,
  },
  browse: {
    markdown: { mediaType: markdown, render: renderBrowsePage },
    json: { mediaType: json, render: renderBrowseJson },
    data: { mediaType: json, render: renderBrowseData },
    html: page,
    ...feeds,
  },
  embed: { json: { mediaType: json, render: renderEmbedJson } },
} as const satisfies {
  readonly [Kind in Result['kind']]: Partial<
    Record<Format, ResultFormat<Extract<Result, { kind: Kind }>>>
  >;
};

interface Rendered {
  readonly body: string;
  readonly mediaType: string;
  /** File names for a download; `null` if the body is not a download. */
  readonly fileNames: NoteNames | null;
  /** Additional response headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Rendered result, without items left out because of its maximum length. */
  readonly result: Result;
  /** Number of items in `result` if others were left out to fit, otherwise `null`. */
  readonly shown: number | null;
}

export interface Rendering {
  readonly format: Format;
  readonly context: RenderContext;
}

/** Renders a result. Throws Error if results of this kind do not have the format. */
export function render(whole: Result, { format, context }: Rendering): Rendered {
  const { mediaType, render: write, toFileNames, toHeaders } = findFormat(whole, format);
  const { result, text, shown } = fitInFormat(whole, { format, context });
  const body = text ?? write(result, context);
  const fileNames = toFileNames?.(result) ?? null;
  const headers = toHeaders?.(result, context) ?? {};
  return { body, mediaType, fileNames, headers, result, shown };
}

function findFormat(result: Result, format: Format): ResultFormat<Result> {
  // The type of `formats` guarantees that a format of a kind renders results of that kind.
  const known = formats[result.kind] as Partial<Record<Format, ResultFormat<Result>>>;
  const chosen = known[format];
  if (chosen === undefined) throw new Error(`A ${result.kind} result has no format ${format}.`);
  return chosen;
}

const ownLength: ReadonlySet<Format> = new Set(['markdown', 'json', 'data', 'obsidian']);

/** Shortens a result. `text` is `null` if measured in another format or not at all. */
export function fitInFormat(result: Result, { format, context }: Rendering) {
  // A preview page contains only the start of one post.
  if (result.kind === 'embed' || result.bound === undefined || format === 'preview') {
    return { result, text: null, shown: null };
  }
  const isOwn = ownLength.has(format);
  const measured = isOwn ? format : 'markdown';
  const { render: write } = findFormat(result, measured);
  const fitted = fitResult(result, (one) => write(one, context));
  return isOwn ? fitted : { ...fitted, text: null };
}

export type Representation = Readonly<ReturnType<typeof represent>>;

export function represent(whole: Result, rendering: Rendering) {
  const { body: text, result, ...rest } = render(whole, rendering);
  const body = toOwnBuffer(text);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
  return {
    ...rest,
    body,
    /** Strong entity tag (RFC 9110 §8.8.3): a hash of the body. */
    etag,
    kind: result.kind,
    count: countItems(result),
    embedUrl: result.kind === 'post' ? result.embedUrl : null,
    /** URL of the Atom feed; `null` if the result has no feeds. */
    feedUrl: hasFeeds(result) ? toFormatUrl(result.urls.self, 'atom') : null,
    /** Seconds for which clients may reuse the response; `null` for the server's default. */
    maxAgeSeconds:
      result.kind !== 'embed' && isFeedFormat(rendering.format) ? result.freshSeconds : null,
    /** Whether it is a search for which the platform's live results were unavailable. */
    degraded: result.kind === 'browse' && result.degraded,
  };
}

const hasFeeds = (result: Result): result is Exclude<Result, { kind: 'embed' }> =>
  result.kind !== 'embed' && postsOf(result) !== null;

function countItems(result: Result): number {
  if (result.kind === 'embed') return 1;
  return result.kind === 'post'
    ? result.posts.length
    : Object.values(result.items ?? {}).flat().length;
}

/** Copies content to memory of its own, because a slice keeps all of Node's pool in memory. */
export function toOwnBuffer(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const own = Buffer.alloc(bytes.length);
  bytes.copy(own);
  return own;
}
