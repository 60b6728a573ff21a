import { encodeComponent } from '../../../core/http/encode-component.ts';
import { redactKeys } from '../../../core/redact.ts';
import { escapeHtml, escapeLine } from '../../../render/html/escape.ts';
import { brandMark } from '../../../render/page/brand-mark.ts';
import type { ResultHtml } from '../../../render/page/result.ts';
import { findVersioned } from '../../reads/routes.ts';
import { renderCode, renderLink, renderPage, type Site, toLink } from '../layout.ts';
import { findOtherMeaning } from './pasted.ts';

export interface FrontSite extends Site {
  readonly hasSample: boolean;
}

const sentence =
  'Perch reads public social posts and returns them as Markdown, JSON, web pages or feeds.';

const introduction = `<h1>Read public posts as&nbsp;Markdown.</h1>
<p class="lede">${sentence} No&nbsp;account and no key is needed.</p>
`;

function listExamples({ baseUrl, hasSample }: FrontSite) {
  if (!hasSample) {
    return [
      { name: 'a post', text: 'https://x.com/jack/status/20' },
      { name: 'a profile', text: '@jack' },
    ];
  }
  return [
    { name: 'a thread', text: `${baseUrl}/ada.example/status/1900000000000000001` },
    { name: 'a profile', text: '@ada.example' },
    { name: 'followers', text: `${baseUrl}/ada.example/followers` },
    { name: 'a search', text: `${baseUrl}/search?platform=sample&q=heron` },
  ];
}

/** Returns the handle of an account that this server can read, for use in examples. */
export function toExampleHandle({ hasSample }: FrontSite): string {
  return hasSample ? 'ada.example' : 'jack';
}

function listSurfaces(site: FrontSite) {
  const { baseUrl } = site;
  const handle = toExampleHandle(site);
  const path = findVersioned('getProfile').path.replace('{handle}', handle);
  return [
    {
      name: 'Permalinks',
      text: 'In a link to a post, replace the host of the site with the host of this server.',
      example: `curl ${baseUrl}/${handle}`,
      docs: '/docs/start',
    },
    {
      name: 'API',
      text: 'The same responses at versioned paths. For JSON, send `Accept: application/json` or `format=json`.',
      example: `curl '${baseUrl}${path}?format=json'`,
      docs: '/docs/posts',
    },
    {
      name: 'MCP',
      text: 'The same content for AI assistants, with read-only tools.',
      example: `${baseUrl}/mcp`,
      docs: '/docs/mcp',
    },
  ];
}

const nextLinks = [
  { path: '/docs/start', name: 'Quick start', text: 'read a post in five minutes' },
  { path: '/docs', name: 'Documentation', text: 'every kind of request and its parameters' },
  { path: '/openapi.json', name: 'OpenAPI', text: 'every route, for code generators' },
  { path: '/docs/keys', name: 'Keys and limits', text: 'free requests, and more with a key' },
  { path: '/docs/errors', name: 'Errors', text: 'every error code and its solution' },
  { path: '/docs/deploy', name: 'Deploy', text: 'one process, no configuration' },
  { path: '/llms.txt', name: 'llms.txt', text: 'an overview for language models' },
];

interface FrontResult {
  /** User's input. The page redacts API keys in the input. */
  readonly text: string;
  readonly title: string;
  readonly html: string;
}

export function renderFrontPage(site: FrontSite, result: FrontResult | null = null): string {
  const html = result === null ? '' : `${renderOtherMeaning(result.text, site)}${result.html}`;
  return renderPage(
    {
      title: result?.title ?? 'Perch',
      description: sentence,
      path: '/',
      section: 'home',
      kind: result === null ? 'front' : 'front has-result',
      bodyHtml: [
        renderBox(site, redactKeys(result?.text ?? ''), introduction),
        '<p id="status" class="visually-hidden" role="status"></p>',
        `<section id="result" aria-label="Result" tabindex="-1">${html}</section>`,
        renderSurfaces(site),
        renderNext(site),
      ].join('\n'),
      styles: ['front.css', 'result.css', 'post.css', 'lists.css'],
      scripts: ['copy.js', 'front.js'],
      robots: result === null ? 'index' : 'noindex',
    },
    site,
  );
}

export function toQuestionLink(text: string, site: Site): string {
  return `${toLink('/', site)}?q=${encodeComponent(text)}#result`;
}

/**
 * Maximum number of characters that a user can type into the input field of the front page. The server also accepts
 * longer values of `q`, the query parameter with the input.
 */
const maxBoxCharacters = 2048;

/** Renders the input form for links, handles and search words. `introduction` is the HTML before the form. */
export function renderBox(site: FrontSite, text: string, introduction: string): string {
  const examples = listExamples(site).map(
    (one) => `<li><a href="${escapeHtml(toQuestionLink(one.text, site))}">${one.name}</a></li>`,
  );
  return `<section class="ask">
${introduction}<form id="ask" method="get" action="${escapeHtml(toLink('/', site))}#result">
<label for="q">Link to a post, profile or search, an @handle, or words to search for</label>
<div class="ask-line">${brandMark}
<input id="q" name="q" type="text" dir="auto" inputmode="url" required maxlength="${maxBoxCharacters}" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="https://x.com/jack/status/20" value="${escapeLine(text)}">
<button type="submit">Read</button>
</div>
</form>
<div class="examples"><p id="examples">Try</p><ul aria-labelledby="examples">${examples.join('')}</ul></div>
</section>`;
}

function renderSurfaces(site: FrontSite): string {
  const surfaces = listSurfaces(site).map(
    ({ name, text, example, docs }, index) => `<li>
<div>
<h3>${renderLink(docs, name, site)}</h3>
<p>${renderCode(text)}</p>
</div>
${renderCommand(`surface-${index}`, `the ${name} example`, example)}
</li>`,
  );
  return `<section class="surfaces" aria-labelledby="surfaces-title">
<h2 id="surfaces-title">Three ways to read posts</h2>
<ul>${surfaces.join('\n')}</ul>
</section>`;
}

function renderNext(site: Site): string {
  const links = nextLinks.map(
    ({ path, name, text }) => `<li>${renderLink(path, name, site)} <span>${text}</span></li>`,
  );
  return `<section class="next" aria-labelledby="next-title">
<h2 id="next-title">Next</h2>
<ul>${links.join('\n')}</ul>
</section>`;
}

export function renderFrontMarkdown(site: FrontSite): string {
  const { baseUrl } = site;
  const surfaces = listSurfaces(site).map(
    ({ name, text, example, docs }) => `- [${name}](${baseUrl}${docs}): ${text} \`${example}\``,
  );
  const examples = listExamples(site).map(
    ({ text }) => `curl -G ${baseUrl}/ --data-urlencode 'q=${text}'`,
  );
  const blocks = [
    '# Perch',
    sentence,
    'Send the URL of a post, an account or a search, an `@handle`, or words to search for as `q`:',
    `\`\`\`sh\n${examples.join('\n')}\n\`\`\``,
    '## Three ways to read posts',
    surfaces.join('\n'),
    '## Next',
    nextLinks.map(({ path, name, text }) => `- [${name}](${baseUrl}${path}): ${text}`).join('\n'),
  ];
  return `${blocks.join('\n\n')}\n`;
}

interface ShownRead {
  readonly url: string;
  readonly markdown: string;
  readonly rendered: ResultHtml;
  readonly source: string;
}

/** Renders a result as HTML: formatted text, the Markdown source, and `curl` commands that return the same result. */
export function renderRead({ url, markdown, rendered, source }: ShownRead): string {
  return `<div class="result-head">
<h2 id="result-title" tabindex="-1">Result</h2>
<p class="source">from ${escapeHtml(source)}</p>
<fieldset class="views"><legend class="visually-hidden">View</legend>
<input type="radio" name="view" id="view-rendered" checked><label for="view-rendered">Rendered</label>
<input type="radio" name="view" id="view-source"><label for="view-source">Source</label>
</fieldset>
<button type="button" class="copy-all" data-copies="result-source" hidden>Copy<span class="visually-hidden"> the</span> Markdown</button>
</div>
<section class="rendered" aria-label="Rendered">
${rendered.html}</section>
<pre id="result-source" class="markdown" dir="auto"><code>${escapeHtml(markdown)}</code></pre>
<div class="terminal">
<h3>From a terminal</h3>
${renderCommand('result-curl', 'the command for Markdown', toCommand(url, ''))}
${renderCommand('result-curl-json', 'the command for JSON', toCommand(url, "-H 'Accept: application/json' "))}
</div>`;
}

/** Returns a `curl` command for the shell. Quotes the URL if necessary. */
function toCommand(url: string, options: string): string {
  const isPlain = /^[\w:/.@%~-]+$/.test(url);
  return `curl ${options}${isPlain ? url : `'${url.replaceAll("'", "'\\''")}'`}`;
}

/** Renders a link to the other interpretation of the input (account or search); an empty string if there is none. */
function renderOtherMeaning(text: string, site: Site): string {
  const other = findOtherMeaning(text);
  if (other === null) return '';
  const link = `<a href="${escapeHtml(toQuestionLink(other.text, site))}">${escapeHtml(other.name)}</a>`;
  const question =
    other.kind === 'account' ? `Did you mean the account ${link}?` : `Search posts for ${link}?`;
  return `<p class="other-meaning">${question}</p>\n`;
}

/** Renders a command and a hidden copy button, which `copy.js` shows. `name`: the command's name for screen readers. */
function renderCommand(id: string, name: string, command: string): string {
  return `<div class="code command"><pre id="${id}"><code>${escapeHtml(command)}</code></pre><button type="button" class="copy" data-copies="${id}" hidden>Copy<span class="visually-hidden"> ${escapeHtml(name)}</span></button></div>`;
}
