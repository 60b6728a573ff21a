import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Token } from 'markdown-it';
import { type Answer, toAnswerReply } from '../../../answers/answer.ts';
import { toJsonBody } from '../../../lib/http/json-bodies.ts';
import { encodeComponent, parseQuery } from '../../../lib/http/url.ts';
import { once } from '../../../lib/once.ts';
import { Problem, type ProblemDocument, toProblemDocument } from '../../../lib/problem.ts';
import { redactKeys } from '../../../lib/redact.ts';
import { escapeHtml, Html, html } from '../../../render/html/markup.ts';
import { toLine } from '../../../render/markdown/characters.ts';
import { overloaded } from '../../monitoring/load.ts';
import { toProblem } from '../../problems.ts';
import { namesFormat, negotiate, offers } from '../../reads/negotiation.ts';
import type { ReadingOptions } from '../../reads/read-routes.ts';
import { type PreparedReply, sendPrepared } from '../../reply.ts';
import { type DocSite, toDocPath } from '../docs/doc-pages.ts';
import type { Docs } from '../docs/docs-plugin.ts';
import { avoidInlineStyle, createParser, type LinkElement, setTargets } from '../docs/markdown.ts';
import {
  askPath,
  docsPath,
  maxQueryLength,
  type Page,
  parseText,
  preparePage,
  renderLink,
  renderPage,
  toLink,
} from '../layout.ts';
import { renderProblem } from '../problem-page.ts';

export interface QuestionAnswerer {
  /** Path prefix of the session routes, which the script of the page calls. */
  readonly sessionBase: string;
  /** Whether answers are about the documentation of this site, so that citations link there. */
  readonly isAboutPages: boolean;
  /** Whether Perch stores unanswered questions for the operator; the page informs visitors. */
  readonly keepsDeclined: boolean;
  /**
   * Answers without a session, in Markdown with citations of the form `path#heading:line`.
   * @throws Problem `not_ready`, `shutting_down`, `rate_limited`, `overloaded`
   */
  answer(question: string, request: FastifyRequest): Promise<Answer>;
}

const keptNotice =
  ' The operator of this server can see questions that the documents do not answer, without your name or address.';

export interface AskOptions extends Pick<ReadingOptions, 'load' | 'work' | 'accessLog'> {
  readonly asking: QuestionAnswerer;
  /** Returns the documentation. Throws Problem `route_not_found` if there is no documentation. */
  open(): Docs;
}

/** Creates the handler of questions: HTML to browsers, Markdown or JSON to other clients. */
export function createAskHandler(options: AskOptions) {
  const { open, accessLog, asking } = options;
  const listLinks = () => (asking.isAboutPages ? createAnswerLinks(open().site) : foreignLinks);
  const openRenderer = once(() => createAnswerRenderer(listLinks()));
  const render = async (text: string) => new Html((await openRenderer())(text));
  const write = (result: QuestionResult | null) => {
    const { site } = open();
    const text = renderPage(describeAskPage(result, { asking, site, links: listLinks() }), site);
    return preparePage(text, 'html', result === null ? {} : fresh);
  };
  const writeForm = once(() => write(null));
  return async (request: FastifyRequest, reply: FastifyReply) => {
    open();
    const send = (prepared: PreparedReply, status = 200) => {
      const sent = sendPrepared(reply, prepared);
      accessLog.logIfNotable(request, reply, status);
      return sent;
    };
    const { accept } = request.headers;
    if (parseQuery(request.raw.url ?? '').q === undefined && !namesFormat(accept)) {
      return send(writeForm());
    }
    const format = negotiate(accept, offers.ask);
    if (format !== 'html') {
      const found = await answer(readQuestion(request), request, options);
      const body = format === 'json' ? toJsonBody(toAnswerReply(found)) : found.text;
      return send(preparePage(body, format, fresh));
    }
    const result = await ask(request, render, options);
    // The access log records the status of the problem, although the status of the page is 200.
    reply.problemCode = result.problem?.code ?? null;
    return send(write(result), result.problem?.status);
  };
}

/** Headers that forbid caching of answers, because questions are private. */
const fresh = { 'cache-control': 'no-store' } as const;

function readQuestion(request: FastifyRequest): string {
  const question = parseText(request);
  if (question !== '') return question;
  const detail = 'The question is missing or blank.';
  const resolution = 'Send the question in the parameter `q`, and percent-encode it.';
  throw new Problem('missing_query', { detail, resolution });
}

async function answer(text: string, request: FastifyRequest, { asking, load, work }: AskOptions) {
  if (load.isHigh) throw overloaded();
  return work.track(asking.answer(text, request));
}

interface QuestionResult {
  readonly question: string;
  readonly answer?: { readonly html: Html; readonly abstained: boolean };
  readonly problem?: ProblemDocument;
}

/**
 * Answers the question in a request, or returns a problem document after an error
 * (docs/decisions/0029). API keys are removed from the question in the result.
 */
async function ask(
  request: FastifyRequest,
  render: (text: string) => Promise<Html>,
  options: AskOptions,
): Promise<QuestionResult> {
  let text = '';
  try {
    text = parseText(request);
    if (text === '') return { question: '' };
    const { text: markdown, abstained } = await answer(text, request, options);
    return { question: redactKeys(text), answer: { html: await render(markdown), abstained } };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { baseUrl } = options.open().site;
    const problem = toProblemDocument(toProblem(error, request), { baseUrl });
    return { question: redactKeys(text), problem };
  }
}

interface AskPageContext {
  readonly asking: QuestionAnswerer;
  readonly site: DocSite;
  readonly links: AnswerLinks;
}

export const exampleQuestions = [
  'How do I embed a post?',
  'What does the code rate_limited mean?',
  'How do I run Perch behind a proxy?',
] as const;

function describeAskPage(result: QuestionResult | null, context: AskPageContext): Page {
  const { question = '' } = result ?? {};
  const { site, asking } = context;
  return {
    title: question === '' ? 'Ask the documentation' : `${question} · Ask`,
    description: 'Ask a question about the documentation, and get an answer with its sources.',
    path: askPath,
    kind: 'asking',
    section: 'ask',
    robots: result === null ? 'index' : 'noindex',
    styles: ['result.css', 'ask.css'],
    scripts: ['copy.js', 'docs.js', 'answer.js', 'ask-session.js', 'ask.js'],
    body: html`<h1>Ask the documentation</h1>
<p class="lead">Ask in a full sentence. The answer lists its sources, and says so if the documentation has no answer.</p>
<div id="turns">${result && renderTurn(result, site)}</div>
<p id="status" class="visually-hidden" role="status"></p>
${renderForm(result, context)}
${renderExamples(context)}
<p class="kept">With JavaScript, this server stores your questions for a while, so that you can ask follow-up questions. See ${renderLink(`${docsPath}/sessions`, 'sessions', site)}.${asking.keepsDeclined && keptNotice}</p>`,
  };
}

function renderForm(result: QuestionResult | null, { site, links, asking }: AskPageContext): Html {
  const { question = '', answer } = result ?? {};
  // An answered question is shown above the box. The box is empty for the next question.
  const text = answer === undefined ? question : '';
  const data = {
    base: site.baseUrl,
    sessions: toLink(asking.sessionBase, site),
    docs: toLink(docsPath, site),
    description: toLink('/openapi.json', site),
    pages: links.pages.join(' '),
  };
  const members = Object.entries(data).map(([name, to]) => html` data-${name}="${to}"`);
  return html`<form id="ask" action="${toLink(askPath, site)}"${members}>
<label for="q">Your question</label>
<div class="ask-line">
<input id="q" name="q" type="text" required maxlength="${maxQueryLength}" autocomplete="off" value="${toLine(text)}">
<button type="submit">Ask</button>
<button type="button" id="stop" hidden>Stop</button>
</div>
<button type="button" id="restart" hidden>Start over</button>
</form>`;
}

function renderTurn({ question, answer, problem }: QuestionResult, site: DocSite): Html {
  if (problem !== undefined) return renderProblem(problem, site);
  if (answer === undefined) return html`<p class="status">Type a question first.</p>`;
  return html`<article class="turn${answer.abstained && ' abstained'}" data-question="${question}">
<h2>${question}</h2>
<div class="answer">${answer.html}</div>
</article>`;
}

function renderExamples({ site, links }: AskPageContext): Html | null {
  if (links.pages.length === 0) return null;
  const toPath = (text: string) => `${askPath}?q=${encodeComponent(text)}`;
  return html`<div class="examples"><p id="examples">Try</p><ul aria-labelledby="examples">${exampleQuestions.map(
    (text) => html`<li>${renderLink(toPath(text), text, site, html` rel="nofollow"`)}</li>`,
  )}</ul></div>`;
}

export type AnswerLinks = ReturnType<typeof createAnswerLinks>;

export function createAnswerLinks(site: DocSite) {
  const toPage = (name: string, fragment: string) => {
    const page = site.library.find(name);
    return page === undefined ? null : `${toLink(toDocPath(page), site)}${fragment}`;
  };
  return {
    pages: site.library.pages.map(({ name }) => name),
    /** Returns the URL of a citation like `docs/keys.md#get-a-key:12`; `null` without a page. */
    ofCitation: (citation: string) => {
      const [, path = '', fragment = ''] = /^([^#:]+)(#[^:]+)?:\d+$/.exec(citation) ?? [];
      if (path === 'openapi/perch.json') return toLink('/openapi.json', site);
      return toPage(/^docs\/([\w-]+)\.md$/.exec(path)?.[1] ?? '', fragment);
    },
    /** Returns the URL of a link, a path for pages of this site; `null` if it is not on the web. */
    ofTarget: (target: string) =>
      target.startsWith(`${site.baseUrl}${docsPath}/`)
        ? toLink(target.slice(site.baseUrl.length), site)
        : toWebAddress(target),
  };
}

/** Link resolver for files that are not pages of this site: only `http` and `https` URLs. */
export const foreignLinks: AnswerLinks = {
  pages: [],
  ofCitation: () => null,
  ofTarget: toWebAddress,
};

function toWebAddress(target: string): string | null {
  return /^https?:\/\//i.test(target) ? target : null;
}

/** Creates a function that renders an answer's Markdown as HTML, with HTML escaped. */
export async function createAnswerRenderer(links: AnswerLinks) {
  const parser = await createParser();
  // The parser accepts every link; `toElement` renders links without a URL as text.
  parser.validateLink = () => true;
  const { rules } = parser.renderer;
  rules.text = (tokens, at) => {
    const content = tokens[at]?.content ?? '';
    return isInLink(tokens, at) ? escapeHtml(content) : linkCitations(content, links);
  };
  rules.code_inline = (tokens, at) => {
    const content = tokens[at]?.content ?? '';
    const code = `<code>${escapeHtml(content)}</code>`;
    const href = isInLink(tokens, at) ? null : links.ofCitation(content);
    return href === null ? code : `<a href="${escapeHtml(href)}">${code}</a>`;
  };
  return (markdown: string): string => {
    const tokens = parser.parse(markdown, {});
    nestHeadings(tokens, 3); // the heading of the question has level 2
    for (const token of tokens) {
      avoidInlineStyle(token);
      setTargets(token.children ?? [], (target) => toElement(links.ofTarget(target)));
    }
    return parser.renderer.render(tokens, parser.options, {});
  };
}

function isInLink(tokens: readonly Token[], at: number): boolean {
  const before = tokens.slice(0, at).map(({ type }) => type);
  return before.lastIndexOf('link_open') > before.lastIndexOf('link_close');
}

const citationPattern = /(?:docs\/[\w-]+\.md|openapi\/perch\.json)(?:#[\p{L}\p{M}\p{N}_-]+)?:\d+/gu;

function linkCitations(text: string, links: AnswerLinks): string {
  return escapeHtml(text).replaceAll(citationPattern, (citation) => {
    const href = links.ofCitation(citation);
    return href === null ? citation : `<a href="${escapeHtml(href)}">${citation}</a>`;
  });
}

function toElement(href: string | null): LinkElement {
  if (href === null) return { tag: 'span', attrs: [] };
  const attrs: LinkElement['attrs'] = [['href', href]];
  if (toWebAddress(href) !== null) attrs.push(['rel', 'nofollow noopener noreferrer']);
  return { tag: 'a', attrs };
}

function nestHeadings(tokens: readonly Token[], first: number): void {
  const open: number[] = [];
  let tag = '';
  for (const token of tokens) {
    if (token.type === 'heading_close') token.tag = tag;
    if (token.type !== 'heading_open') continue;
    const level = Number(token.tag.slice(1));
    while ((open.at(-1) ?? 0) >= level) open.pop();
    open.push(level);
    tag = `h${Math.min(first + open.length - 1, 6)}`;
    token.tag = tag;
  }
}
