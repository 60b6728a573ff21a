import { encodeComponent } from '../../../lib/http/url.ts';
import type { ProblemDocument } from '../../../lib/problem.ts';
import { redactKeys } from '../../../lib/redact.ts';
import { type SearchPlatform, searchPlatforms } from '../../../model/reference.ts';
import { toFormatUrl } from '../../../render/feeds/urls.ts';
import { brandMark, Html, html, openLink } from '../../../render/html/markup.ts';
import { toLine } from '../../../render/markdown/characters.ts';
import type { ResultHtml } from '../../../render/page/result.ts';
import { findVersioned } from '../../reads/routes.ts';
import { renderCode, renderLink, renderPage, type Site, toLink } from '../layout.ts';
import { findOtherMeaning } from '../own-links.ts';

export interface FrontSite extends Site {
  readonly hasSample: boolean;
  readonly searchPlatform: SearchPlatform;
}

const sentence =
  'Perch reads public posts on X, Bluesky and Mastodon, and returns them as Markdown, JSON, web pages or feeds.';

const introduction = html`<h1>Read public posts as&nbsp;Markdown.</h1>
<p class="lede">${sentence} No&nbsp;account and no key is needed.</p>
`;

const platformNames: Readonly<Record<SearchPlatform, string>> = {
  x: 'X',
  bluesky: 'Bluesky',
  mastodon: 'Mastodon',
  archive: 'imported accounts',
  sample: 'the sample',
};

export const examplePostUrl = ({ baseUrl }: FrontSite): string =>
  `${baseUrl}/ada.example/status/1900000000000000001`;

function listExamples(site: FrontSite) {
  const { baseUrl, hasSample } = site;
  if (!hasSample) {
    return [
      { name: 'a post', text: 'https://x.com/jack/status/20' },
      { name: 'a profile', text: '@jack' },
    ];
  }
  return [
    { name: 'a thread', text: examplePostUrl(site) },
    { name: 'a profile', text: '@ada.example' },
    { name: 'followers', text: `${baseUrl}/ada.example/followers` },
    { name: 'a search', text: `${baseUrl}/search?platform=sample&q=heron` },
  ];
}

/** Returns the handle of an account that this server can read. */
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

interface BoxInput {
  readonly text: string;
  /** Platform that the visitor chose; an empty string for none. */
  readonly platform: string;
}

interface FrontContent {
  readonly result?: {
    /** User's input. The page redacts API keys in the input. */
    readonly input: BoxInput;
    readonly title: string;
    readonly html: Html;
  };
  readonly example?: Html;
}

const noInput: BoxInput = { text: '', platform: '' };

export function renderFrontPage(site: FrontSite, content: FrontContent | null): string {
  const { result, example } = content ?? {};
  return renderPage(
    {
      title: result?.title ?? 'Perch',
      description: sentence,
      path: '/',
      section: 'home',
      kind: result === undefined ? 'front' : 'front has-result',
      body: html`${renderBox(site, result?.input ?? noInput, introduction)}
<p id="status" class="visually-hidden" role="status"></p>
<section id="result" aria-label="Result" tabindex="-1">${result && [renderOtherMeaning(result.input.text, site), result.html]}</section>
${example}
${renderSurfaces(site)}
${renderNext(site)}`,
      styles: ['front.css', 'result.css', 'post.css', 'lists.css'],
      scripts: ['copy.js', 'front.js'],
      robots: result === undefined ? 'index' : 'noindex',
    },
    site,
  );
}

export function toQuestionLink(text: string, site: Site): string {
  return `${toLink('/', site)}?q=${encodeComponent(text)}#result`;
}

const renderQuestion = (text: string, name: string, site: Site) =>
  html`<a href="${toQuestionLink(text, site)}">${name}</a>`;

const maxBoxCharacters = 2048;

/** Renders the form for links, handles and words. */
export const renderBox = (site: FrontSite, input = noInput, introduction?: Html): Html =>
  html`<section class="ask">
${introduction}<form id="ask" method="get" action="${toLink('/', site)}#result">
<label for="q">Link to a post, profile or search, an @handle, or words to search for</label>
<div class="ask-line">${brandMark}
<input id="q" name="q" type="text" dir="auto" inputmode="url" required maxlength="${maxBoxCharacters}" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="https://x.com/jack/status/20" value="${toLine(redactKeys(input.text))}">
<button type="submit">Read</button>
</div>
<div class="below-box">
${renderChoice(site, input.platform)}
<div class="examples"><p id="examples">Try</p><ul aria-labelledby="examples">${listExamples(site).map(({ text, name }) => html`<li>${renderQuestion(text, name, site)}</li>`)}</ul></div>
</div>
</form>
</section>`;

function renderChoice({ searchPlatform, hasSample }: FrontSite, chosen: string): Html {
  const shown = searchPlatforms.filter((name) => {
    if (name === 'archive') return searchPlatform === 'archive';
    return name !== 'sample' || hasSample;
  });
  const selected = shown.find((name) => name === chosen) ?? searchPlatform;
  return html`<p class="choice"><label for="platform">Search words on</label> <select id="platform" name="platform" data-default="${searchPlatform}">${shown.map(
    (name) =>
      html`<option value="${name}"${name === selected && ' selected'}>${platformNames[name]}</option>`,
  )}</select></p>`;
}

const renderSurfaces = (site: FrontSite) =>
  html`<section class="surfaces" aria-labelledby="surfaces-title">
<h2 id="surfaces-title">Three ways to read posts</h2>
<ul>${listSurfaces(site).map(
    ({ name, text, example, docs }, index) => html`<li>
<div>
<h3>${renderLink(docs, name, site)}</h3>
<p>${renderCode(text)}</p>
</div>
${renderCommand(`surface-${index}`, `the ${name} example`, example)}
</li>`,
  )}</ul>
</section>`;

const renderNext = (site: Site) => html`<section class="next" aria-labelledby="next-title">
<h2 id="next-title">Next</h2>
<ul>${nextLinks.map(({ path, name, text }) => html`<li>${renderLink(path, name, site)} <span>${text}</span></li>`)}</ul>
</section>`;

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
  /** URL of the result on this server, without a format. */
  readonly url: string;
  readonly hasFeeds: boolean;
  /** Arguments of `perch watch` for the result; `null` if it cannot be watched. */
  readonly watched: readonly string[] | null;
  readonly markdown: string;
  readonly rendered: ResultHtml;
  readonly source: string;
}

/** Renders a result as formatted text and Markdown, with links and commands for other formats. */
export function renderRead({ url, hasFeeds, watched, source, ...shown }: ShownRead): Html {
  const watch = watched && `npx perch watch ${watched.map(quoteWord).join(' ')}`;
  const asJson = toCommand(url, "-H 'Accept: application/json' ");
  return html`<div class="result-head">
<h2 id="result-title" tabindex="-1">Result</h2>
<p class="source">from ${source}</p>
${renderViews('result')}
<button type="button" class="copy-all" data-copies="result-source" hidden>Copy<span class="visually-hidden"> the</span> Markdown</button>
</div>
${renderShown('result', shown)}
${renderFormats(url, hasFeeds)}
<div class="terminal">
<h3>From a terminal</h3>
${renderCommand('result-curl', 'the command for Markdown', toCommand(url, ''))}
${renderCommand('result-curl-json', 'the command for JSON', asJson)}
${watch && renderCommand('result-watch', 'the command to watch for new posts', watch)}
</div>`;
}

const renderViews = (name: string) =>
  html`<fieldset class="views"><legend class="visually-hidden">View</legend>
<input type="radio" name="${name}-view" id="${name}-view-rendered" checked><label for="${name}-view-rendered">Page</label>
<input type="radio" name="${name}-view" id="${name}-view-source" class="view-source"><label for="${name}-view-source">Markdown</label>
</fieldset>`;

const renderShown = (
  name: string,
  { markdown, rendered }: Pick<ShownRead, 'markdown' | 'rendered'>,
) =>
  html`<section class="rendered" aria-label="Page">
${new Html(rendered.html)}</section>
<pre id="${name}-source" class="markdown" dir="auto"><code>${markdown}</code></pre>`;

const formatNames = [
  ['html', 'Web page'],
  ['markdown', 'Markdown'],
  ['json', 'JSON'],
] as const;

const feedNames = [
  ['atom', 'Atom feed'],
  ['rss', 'RSS feed'],
  ['jsonfeed', 'JSON Feed'],
] as const;

function renderFormats(url: string, hasFeeds: boolean): Html {
  const links = [...formatNames, ...(hasFeeds ? feedNames : [])].map(
    ([format, name]) => html`<li><a href="${toFormatUrl(url, format)}">${name}</a></li>`,
  );
  return html`<nav class="formats" aria-label="Other formats"><ul>${links}</ul></nav>`;
}

/** Renders the example thread as a page and as Markdown, with links to other formats. */
export const renderExample = (
  { url, ...shown }: Pick<ShownRead, 'url' | 'markdown' | 'rendered'>,
  site: FrontSite,
): Html => html`<section class="example" aria-labelledby="example-title">
<div class="result-head">
<h2 id="example-title">A thread, as Perch shows it</h2>
${renderViews('example')}
</div>
${renderShown('example', shown)}
${renderFormats(url, true)}
<p class="whole">${renderQuestion(url, 'Read the whole thread', site)}</p>
</section>`;

function toCommand(url: string, options: string): string {
  return `curl ${options}${quoteWord(url)}`;
}

function quoteWord(word: string): string {
  return /^[\w:/.@%~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function renderOtherMeaning(text: string, site: Site): Html | null {
  const other = findOtherMeaning(text);
  if (other === null) return null;
  const question = other.kind === 'account' ? 'Did you mean the account' : 'Search posts for';
  return html`<p class="other-meaning">${question} ${renderQuestion(other.text, other.name, site)}?</p>\n`;
}

/** Renders alternatives for an address that cannot be read now; `null` for other problems. */
export function renderElsewhere(text: string, problem: ProblemDocument, site: FrontSite) {
  const isElsewhere = problem.status >= 500 || problem.code === 'unsupported_host';
  const open = isElsewhere && /^https?:/i.test(text) ? openLink(text) : null;
  if (!isElsewhere || (open === null && !site.hasSample)) return null;
  const sample = renderQuestion(examplePostUrl(site), 'a thread of the sample', site);
  return html`\n<p class="elsewhere">You can ${open && html`open ${new Html(open)}the original address</a>`}${open && site.hasSample && ', or '}${site.hasSample && html`read ${sample}, which needs no network`}.</p>`;
}

const renderCommand = (id: string, name: string, command: string) =>
  html`<div class="code command"><pre id="${id}"><code>${command}</code></pre><button type="button" class="copy" data-copies="${id}" hidden>Copy<span class="visually-hidden"> ${name}</span></button></div>`;
