import { runAtOnce, runInSlices, type Sliced, type Steps } from '../core/scheduling/slices.ts';
import type { Format, Result } from '../model/results.ts';
import { renderEmbedJson } from './embed-json.ts';
import { renderBrowseJson, renderPostJson } from './json.ts';
import { renderBrowsePage } from './markdown/browse-page.ts';
import { renderPostPage } from './markdown/post-page.ts';
import { nameNote, renderPostNote } from './obsidian.ts';
import { renderPreviewPage } from './preview-page.ts';

/** A representation of one kind of result. */
interface ResultFormat<Of extends Result> {
  /** The value of `Content-Type`. */
  readonly mediaType: string;
  /** Renders the body, in steps if it can be long. Never fails. */
  readonly render: (result: Of) => string | Steps<string>;
  /** Returns the name of the file that the representation is meant to be saved as. */
  readonly toFileName?: (result: Of) => string;
}

type FormatsOf<Of extends Result> = Readonly<Partial<Record<Format, ResultFormat<Of>>>>;

const markdown = 'text/markdown; charset=utf-8';
const json = 'application/json; charset=utf-8';

/** Every representation of each kind of result, by the value of the `format` parameter. */
export const formats = {
  post: {
    markdown: { mediaType: markdown, render: renderPostPage },
    json: { mediaType: json, render: renderPostJson },
    obsidian: { mediaType: markdown, render: renderPostNote, toFileName: nameNote },
    preview: { mediaType: 'text/html; charset=utf-8', render: renderPreviewPage },
  },
  browse: {
    markdown: { mediaType: markdown, render: renderBrowsePage },
    json: { mediaType: json, render: renderBrowseJson },
  },
  embed: { json: { mediaType: json, render: renderEmbedJson } },
} as const satisfies {
  readonly [Kind in Result['kind']]: FormatsOf<Extract<Result, { kind: Kind }>>;
};

/** A body with its media type. */
export interface Rendered {
  readonly body: string;
  readonly mediaType: string;
  /** The name of the file that it is meant to be saved as; null for a body that is meant to be shown. */
  readonly fileName: string | null;
}

/**
 * Renders a result in a format.
 *
 * @throws Error for a format that results of this kind do not have: the read's parameters refuse it.
 */
export function render(result: Result, format: Format): Rendered {
  const { render: renderBody, ...rest } = choose(result, format);
  const body = renderBody(result);
  return { ...rest, body: typeof body === 'string' ? body : runAtOnce(body) };
}

/** Renders a result in a format, as `render` does, in slices. */
export async function renderInSlices(
  result: Result,
  format: Format,
  sliced: Sliced,
): Promise<Rendered> {
  const { render: renderBody, ...rest } = choose(result, format);
  const body = renderBody(result);
  return { ...rest, body: typeof body === 'string' ? body : await runInSlices(body, sliced) };
}

function choose(result: Result, format: Format) {
  // The formats of a kind render results of that kind; the compiler cannot see the two go together.
  const known = formats[result.kind] as FormatsOf<Result>;
  const chosen = known[format];
  if (chosen === undefined) throw new Error(`A ${result.kind} result has no format ${format}.`);
  const { mediaType, toFileName } = chosen;
  return { render: chosen.render, mediaType, fileName: toFileName?.(result) ?? null };
}
