import { redactKeys } from '../../core/redact.ts';
import type { Sliced } from '../../core/slices.ts';
import type { Answer } from '../../fetching/plan.ts';
import { createKeptViews, type KeptViews } from '../../fetching/views.ts';
import { type Answered, nameView } from '../../reads/run.ts';
import type { Representation } from '../../render/representation.ts';
import { toReplyHeaders } from '../headers.ts';
import type { PageFormat } from '../negotiation.ts';
import { type PreparedReply, prepareReply } from '../reply.ts';
import type { FrontOptions } from './front-options.ts';
import { renderFrontPage, toQuestionLink } from './front-page.ts';
import { renderOtherMeaning, renderRead } from './front-result.ts';
import { pageHeaders, pageTypes, toEtag } from './page-headers.ts';
import { createResultRenderer, type ResultHtml, type ResultRenderer } from './result-html.ts';

/** What was asked, and its answer. */
export interface Found extends Answered {
  /** What is in the box. */
  readonly text: string;
  /** The path and query of Perch's own that gives the same. */
  readonly address: string;
  /** Whether its own address looks at keys. */
  readonly variesByKey: boolean;
}

/** Creates the replies to what was found: a page, or the same Markdown as at its own address. */
export function createFoundReplies(
  options: FrontOptions,
): (found: Found, format: PageFormat, sliced: Sliced) => Promise<PreparedReply> {
  const toPage = createPages(options);
  const { sharedCacheSeconds, reader } = options;
  return async (found, format, sliced) => {
    const { answer } = found;
    const markdown = await reader.represent(found, 'markdown', sliced);
    await sliced.endSlice?.();
    const representation = format === 'html' ? await toPage(found, markdown) : markdown;
    const { source, cache } = answer;
    const varies = { variesByAgent: false, variesByKey: found.variesByKey };
    const facts = { representation, source, cache, sharedCacheSeconds, ...varies };
    const headers = { ...toReplyHeaders(facts), ...(format === 'html' ? pageHeaders : {}) };
    return prepareReply(headers, representation.body);
  };
}

/** Maximum bytes of Markdown that a page shows rendered, so that it takes little time; the source is shown whatever its length. */
export const maxRenderedBytes = 32_768;

function createPages({ site, hasSample, context }: FrontOptions) {
  const { baseUrl } = site;
  const toPage = (url: string) => toQuestionLink(url, site);
  const kept = createKeptViews<ResultHtml>();
  let renderer: Promise<ResultRenderer> | undefined;
  return async (found: Found, markdown: Representation): Promise<Representation> => {
    renderer ??= createResultRenderer({ ...context, headingLevel: 3, toPage });
    const render = await renderer;
    const { text, address, answer } = found;
    const source = markdown.body.toString();
    const rendered = keep(kept, found, () =>
      markdown.body.length > maxRenderedBytes ? tooLong : render(source, mastodonHostOf(answer)),
    );
    const shown = renderRead({
      url: `${baseUrl}${address}`,
      markdown: source,
      rendered,
      source: answer.source,
    });
    const html = `${renderOtherMeaning(text, site)}${shown}`;
    const result = { text: redactKeys(text), title: rendered.title, html };
    const body = Buffer.from(renderFrontPage({ baseUrl, hasSample }, site, result));
    return { ...markdown, body, mediaType: pageTypes.html, etag: toEtag(body) };
  };
}

/** Returns the Mastodon server that sent its own account or a post by one; null for any other answer. */
function mastodonHostOf({ found, source }: Answer): string | null {
  const subject = 'post' in found ? found.post : found.account;
  const account = subject !== null && 'author' in subject ? subject.author : subject;
  const isCopy = subject !== null && 'copied_from' in subject;
  if (source !== 'mastodon' || account === null || isCopy) return null;
  const { hostname } = new URL(account.url);
  return account.screen_name.endsWith(`@${hostname}`) ? hostname : null;
}

const tooLong: ResultHtml = {
  title: 'Result',
  html: '<p>This is too long to be shown rendered. Its source is here in full.</p>\n',
};

/** Rendering takes longest, so it is kept beside the answer. */
function keep(kept: KeptViews<ResultHtml>, found: Found, render: () => ResultHtml): ResultHtml {
  const { views } = found.answer;
  const name = nameView(found, 'markdown');
  const known = kept.get(views, name);
  if (known !== undefined) return known;
  const made = render();
  kept.set(views, name, made, 2 * made.html.length);
  return made;
}
