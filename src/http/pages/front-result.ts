import type { ProblemDocument } from '../../core/problem.ts';
import { escapeHtml } from '../../render/html/escape.ts';
import { renderCommand } from './command-block.ts';
import { toQuestionLink } from './front-page.ts';
import { renderCode } from './inline-code.ts';
import { type Site, toLink } from './layout.ts';
import { otherMeaningOf } from './pasted.ts';
import type { ResultHtml } from './result-html.ts';

/** What was read, for the page. */
export interface ShownRead {
  /** The URL of Perch's own that gives the same. */
  readonly url: string;
  readonly markdown: string;
  readonly rendered: ResultHtml;
  /** The provider that answered. */
  readonly source: string;
}

/** Renders a read as HTML: rendered, as source, and with the commands that return the same. */
export function renderRead({ url, markdown, rendered, source }: ShownRead): string {
  return `<div class="result-head">
<h2 id="result-title" tabindex="-1">Result</h2>
<p class="source">from ${escapeHtml(source)}</p>
<fieldset class="views"><legend class="visually-hidden">Show it</legend>
<input type="radio" name="view" id="view-rendered" checked><label for="view-rendered">Rendered</label>
<input type="radio" name="view" id="view-source"><label for="view-source">Source</label>
</fieldset>
<button type="button" class="copy-all" data-copies="result-source" hidden>Copy<span class="visually-hidden"> the</span> Markdown</button>
</div>
<article class="rendered" aria-label="Rendered">
${rendered.html}</article>
<pre id="result-source" class="markdown" dir="auto"><code>${escapeHtml(markdown)}</code></pre>
<div class="terminal">
<h3>The same from a terminal</h3>
${renderCommand({ id: 'result-curl', name: 'the command for Markdown', command: toCommand(url, '') })}
${renderCommand({ id: 'result-curl-json', name: 'the command for JSON', command: toCommand(url, "-H 'Accept: application/json' ") })}
</div>`;
}

/** What a shell takes as one word without quotes. */
const plainWord = /^[\w:/.@%~-]+$/;

/** Gives the line for a terminal; nothing in a URL can end its quotes. */
function toCommand(url: string, options: string): string {
  return `curl ${options}${plainWord.test(url) ? url : `'${url.replaceAll("'", "'\\''")}'`}`;
}

/** Returns the offer to read one word as what it can mean besides; nothing if it has one meaning. */
export function renderOtherMeaning(text: string, site: Site): string {
  const other = otherMeaningOf(text);
  if (other === null) return '';
  const link = `<a href="${escapeHtml(toQuestionLink(other.text, site))}">${escapeHtml(other.name)}</a>`;
  const question =
    other.kind === 'account' ? `Did you mean the account ${link}?` : `Search posts for ${link}?`;
  return `<p class="other-meaning">${question}</p>\n`;
}

/** Gives a problem in words: what is wrong, what to do, how long to wait, its code. */
export function renderProblem(problem: ProblemDocument, site: Site): string {
  const { code, title, status, detail, resolution, retry_after: wait } = problem;
  const docs = toLink(`/docs/errors#${code}`, site);
  return `<div class="problem">
<h2 id="result-title" tabindex="-1">${escapeHtml(title)}</h2>
<p>${renderCode(detail)}</p>
<p>${renderCode(resolution)}</p>
${wait === undefined ? '' : `<p class="wait">Try again in ${wait === 1 ? '1 second' : `${wait} seconds`}.</p>\n`}<p class="problem-code">Code <a href="${escapeHtml(docs)}"><code>${code}</code></a>, status ${status}</p>
</div>`;
}
