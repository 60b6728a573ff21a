import { encodeComponent } from '../../../core/http/encode-component.ts';
import type { ProblemDocument } from '../../../core/problem.ts';
import { escapeHtml, escapeLine } from '../../../render/html/escape.ts';
import { brandMark, renderPage, type Site, toLink } from '../layout.ts';
import { type FrontFacts, listExamples, listSurfaces, nextLinks, sentence } from './facts.ts';
import { otherMeaningOf } from './pasted.ts';
import type { ResultHtml } from './result-html.ts';

/** What stands below the box: what was asked, and what came of it. */
export interface FrontResult {
  /** What is in the box. */
  readonly text: string;
  /** The title of the window. */
  readonly title: string;
  readonly html: string;
}

/** Gives the front page; with a result it shows that first. */
export function renderFrontPage(
  facts: FrontFacts,
  site: Site,
  result: FrontResult | null = null,
): string {
  return renderPage(
    {
      title: result?.title ?? 'Perch',
      description: sentence,
      path: '/',
      section: 'home',
      kind: result === null ? 'front' : 'front has-result',
      bodyHtml: [
        renderBox(facts, site, result?.text ?? ''),
        '<p id="status" class="visually-hidden" role="status"></p>',
        `<section id="result" aria-label="Result" tabindex="-1">${result?.html ?? ''}</section>`,
        renderSurfaces(facts, site),
        renderNext(site),
      ].join('\n'),
      styles: ['front.css', 'result.css'],
      scripts: ['copy.js', 'front.js'],
      robots: result === null ? 'index' : 'noindex',
    },
    site,
  );
}

/** Gives the link of the page that reads a text. */
export function toQuestionLink(text: string, site: Site): string {
  return `${toLink('/', site)}?q=${encodeComponent(text)}#result`;
}

/** Maximum characters of the box, enough for every address. A longer text can be sent as `q`. */
const maxBoxCharacters = 2048;

function renderBox(facts: FrontFacts, site: Site, text: string): string {
  const examples = listExamples(facts).map(
    (one) => `<li><a href="${escapeHtml(toQuestionLink(one.text, site))}">${one.name}</a></li>`,
  );
  return `<section class="ask">
<h1>Read public posts as&nbsp;Markdown.</h1>
<p class="lede">${sentence} No&nbsp;account and no key is needed.</p>
<form id="ask" method="get" action="${escapeHtml(toLink('/', site))}#result">
<label for="q">Address of a post, profile or search, an @handle, or words to search for</label>
<div class="ask-line">${brandMark}
<input id="q" name="q" type="text" dir="auto" inputmode="url" required maxlength="${maxBoxCharacters}" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="https://x.com/jack/status/20" value="${escapeLine(text)}">
<button type="submit">Read</button>
</div>
</form>
<div class="examples"><p id="examples">Try</p><ul aria-labelledby="examples">${examples.join('')}</ul></div>
</section>`;
}

function renderSurfaces(facts: FrontFacts, site: Site): string {
  const surfaces = listSurfaces(facts).map(
    ({ name, text, example, docs }, index) => `<li>
<div>
<h3><a href="${escapeHtml(toLink(docs, site))}">${name}</a></h3>
<p>${renderCode(text)}</p>
</div>
${renderCommand({ id: `surface-${index}`, name: `the ${name} example`, command: example })}
</li>`,
  );
  return `<section class="surfaces" aria-labelledby="surfaces-title">
<h2 id="surfaces-title">Three ways in, the same reads</h2>
<ul>${surfaces.join('\n')}</ul>
</section>`;
}

function renderNext(site: Site): string {
  const links = nextLinks.map(
    ({ path, name, text }) =>
      `<li><a href="${escapeHtml(toLink(path, site))}">${name}</a> <span>${text}</span></li>`,
  );
  return `<section class="next" aria-labelledby="next-title">
<h2 id="next-title">Next</h2>
<ul>${links.join('\n')}</ul>
</section>`;
}

/** Gives the front page in Markdown: what Perch is, how to read with it, and what is next. */
export function renderFrontMarkdown(facts: FrontFacts): string {
  const { baseUrl } = facts;
  const surfaces = listSurfaces(facts).map(
    ({ name, text, example, docs }) => `- [${name}](${baseUrl}${docs}): ${text} \`${example}\``,
  );
  const examples = listExamples(facts).map(({ text }) => ask(baseUrl, text));
  const blocks = [
    '# Perch',
    sentence,
    'Ask this address for anything that can be pasted: the URL of a post, an account or a search, an `@handle`, words to search for.',
    `\`\`\`sh\n${examples.join('\n')}\n\`\`\``,
    '## Three surfaces',
    surfaces.join('\n'),
    '## Next',
    nextLinks.map(({ path, name, text }) => `- [${name}](${baseUrl}${path}): ${text}`).join('\n'),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function ask(baseUrl: string, text: string): string {
  return `curl -G ${baseUrl}/ --data-urlencode 'q=${text}'`;
}

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

/** A line to copy. */
interface CommandBlock {
  /** The element that is copied. */
  readonly id: string;
  /** What the button copies, after “Copy”, for those who do not see what it stands beside. */
  readonly name: string;
  readonly command: string;
}

/** Gives a line with a button that copies it; `copy.js` shows the button. */
function renderCommand({ id, name, command }: CommandBlock): string {
  return `<div class="code command"><pre id="${id}"><code>${escapeHtml(command)}</code></pre><button type="button" class="copy" data-copies="${id}" hidden>Copy<span class="visually-hidden"> ${escapeHtml(name)}</span></button></div>`;
}

/** Gives a sentence as HTML; what stands in backticks is code. */
function renderCode(sentence: string): string {
  return escapeHtml(sentence).replace(/`([^`]+)`/g, '<code>$1</code>');
}
