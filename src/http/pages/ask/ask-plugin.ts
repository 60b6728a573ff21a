import type { FastifyInstance, FastifyRequest } from 'fastify';
import { encodeComponent } from '../../../core/http/encode-component.ts';
import { parseQuery } from '../../../core/http/query.ts';
import { Problem, type ProblemDocument, toProblemDocument } from '../../../core/problem.ts';
import { redactKeys } from '../../../core/redact.ts';
import { escapeHtml, escapeLine } from '../../../render/html/escape.ts';
import { toProblem } from '../../../web/errors.ts';
import { refuseOtherMethods } from '../../../web/methods.ts';
import { nothingOfItsOwn, type PreparedReply, sendPrepared } from '../../../web/reply.ts';
import { overloaded } from '../../operations/load.ts';
import { negotiate, offers } from '../../reads/negotiation.ts';
import type { ReadingOptions } from '../../reads/read-routes.ts';
import type { DocSite } from '../docs/doc-pages.ts';
import type { Docs } from '../docs/docs-plugin.ts';
import { renderProblem } from '../front/page.ts';
import {
  askPath,
  docsPath,
  maxQueryLength,
  type Page,
  preparePage,
  readText,
  renderLink,
  renderPage,
  toLink,
} from '../layout.ts';
import {
  type AnswerLinks,
  createAnswerLinks,
  createAnswerRenderer,
  foreignLinks,
} from './answer-html.ts';

/** The answers of the server to questions of pages, which know nothing of sessions. */
export interface Asking {
  readonly sessionBase: string;
  /** Whether answers are about the pages of this site, so that their citations lead there. */
  readonly isAboutPages: boolean;
  /**
   * Answers one question without a session, in Markdown whose citations are `path#heading:line`.
   *
   * @throws Problem `not_ready`, `shutting_down`, `rate_limited`, `overloaded`
   */
  answer(
    question: string,
    request: FastifyRequest,
  ): Promise<{ readonly text: string; readonly abstained: boolean }>;
}

export interface AskOptions extends Pick<ReadingOptions, 'load' | 'work' | 'accessLog'> {
  readonly asking: Asking;
  /** @throws Problem `route_not_found` if there is no documentation */
  open(): Docs;
}

/** Registers the page that answers questions about the documentation, which needs no JavaScript, and the same as Markdown. */
export async function askPlugin(app: FastifyInstance, options: AskOptions) {
  const { open, accessLog } = options;
  const page = createAskPage(options);
  app.get(askPath, async (request, reply) => {
    open();
    const send = (prepared: PreparedReply, status = 200) => {
      sendPrepared({ request, reply }, prepared, nothingOfItsOwn);
      accessLog.notice(request, reply, status);
    };
    if (negotiate(request.headers.accept, offers.docs) === 'markdown') {
      const { text } = await answer(readQuestion(request), request, options);
      return send(preparePage(text, 'markdown', fresh));
    }
    if (parseQuery(request.raw.url ?? '').q === undefined) return send(page.empty());
    const asked = await ask(request, page.render, options);
    // The log has the status of the problem, though the page is a 200.
    reply.problemCode = asked.problem?.code ?? null;
    return send(page.write(asked), asked.problem?.status);
  });
  refuseOtherMethods(app, askPath, { allow: ['GET', 'HEAD'] });
}

/** Nobody may keep an answer: it is of the moment, and the question is private. */
const fresh = { 'cache-control': 'no-store' } as const;

function readQuestion(request: FastifyRequest): string {
  const question = readText(request);
  if (question !== '') return question;
  const detail = 'The parameter `q` is missing or blank; it takes the question.';
  throw new Problem('missing_query', { detail });
}

async function answer(text: string, request: FastifyRequest, { asking, load, work }: AskOptions) {
  if (load.isHigh) throw overloaded();
  return work.track(asking.answer(text, request));
}

/** A question with its answer or the problem with it; with neither where the form was sent without text. */
interface AskedQuestion {
  readonly question: string;
  readonly answer?: { readonly html: string; readonly abstained: boolean };
  readonly problem?: ProblemDocument;
}

/** Problems become part of the page (docs/decisions/0029). A key in a question is not shown. */
async function ask(
  request: FastifyRequest,
  render: (text: string) => Promise<string>,
  options: AskOptions,
): Promise<AskedQuestion> {
  let text = '';
  try {
    text = readText(request);
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

function createAskPage({ open, asking }: AskOptions) {
  let renderer: ReturnType<typeof createAnswerRenderer> | undefined;
  let empty: PreparedReply | undefined;
  const listLinks = () => (asking.isAboutPages ? createAnswerLinks(open().site) : foreignLinks);
  const write = (asked: AskedQuestion | null) => {
    const { site } = open();
    const place = { site, links: listLinks(), sessionBase: asking.sessionBase };
    const html = renderPage(describeAskPage(asked, place), site);
    return preparePage(html, 'html', asked === null ? {} : fresh);
  };
  return {
    render: async (text: string): Promise<string> => {
      renderer ??= createAnswerRenderer(listLinks());
      return (await renderer)(text);
    },
    empty: (): PreparedReply => {
      empty ??= write(null);
      return empty;
    },
    write,
  };
}

interface AskPlace extends Pick<Asking, 'sessionBase'> {
  readonly site: DocSite;
  readonly links: AnswerLinks;
}

export const exampleQuestions = [
  'How do I embed a post?',
  'What does the code rate_limited mean?',
  'How do I run Perch behind a proxy?',
] as const;

function describeAskPage(asked: AskedQuestion | null, place: AskPlace): Page {
  const { question = '' } = asked ?? {};
  return {
    title: question === '' ? 'Ask the documentation' : `${question} · Ask`,
    description: 'Ask the documentation a question, and get an answer that names its sources.',
    path: askPath,
    kind: 'asking',
    section: 'ask',
    robots: asked === null ? 'index' : 'noindex',
    styles: ['result.css', 'ask.css'],
    scripts: ['copy.js', 'docs.js', 'answer.js', 'ask-session.js', 'ask.js'],
    bodyHtml: `<h1>Ask the documentation</h1>
<p class="lead">Put it in a sentence. The answer names the sections that it rests on, and says so where the documentation does not know.</p>
<div id="turns">${asked === null ? '' : renderTurn(asked, place.site)}</div>
<p id="status" class="visually-hidden" role="status"></p>
${renderForm(asked, place)}
${renderExamples(place)}
<p class="kept">What is asked with JavaScript on is recorded here for a while, so that you can ask further: see ${renderLink(`${docsPath}/sessions`, 'sessions', place.site)}.</p>`,
  };
}

/** `answer.js` and `ask.js` read the data attributes of the form. */
function renderForm(asked: AskedQuestion | null, { site, links, sessionBase }: AskPlace): string {
  const { question = '', answer } = asked ?? {};
  // An answered question is shown above the box, which is for the next one.
  const text = answer === undefined ? question : '';
  const data = {
    sessions: toLink(sessionBase, site),
    docs: toLink(docsPath, site),
    description: toLink('/openapi.json', site),
    pages: links.pages.join(' '),
  };
  const members = Object.entries(data).map(([name, to]) => ` data-${name}="${escapeHtml(to)}"`);
  return `<form id="ask" action="${escapeHtml(toLink(askPath, site))}"${members.join('')}>
<label for="q">Your question</label>
<div class="ask-line">
<input id="q" name="q" type="text" required maxlength="${maxQueryLength}" autocomplete="off" value="${escapeLine(text)}">
<button type="submit">Ask</button>
<button type="button" id="stop" hidden>Stop</button>
</div>
<button type="button" id="anew" hidden>Begin anew</button>
</form>`;
}

function renderTurn({ question, answer, problem }: AskedQuestion, site: DocSite): string {
  if (problem !== undefined) return renderProblem(problem, site);
  if (answer === undefined) return '<p class="status">Type a question first.</p>';
  const kind = answer.abstained ? 'turn abstained' : 'turn';
  return `<article class="${kind}" data-question="${escapeHtml(question)}">
<h2>${escapeHtml(question)}</h2>
<div class="answer">${answer.html}</div>
</article>`;
}

function renderExamples({ site, links }: AskPlace): string {
  if (links.pages.length === 0) return '';
  const items = exampleQuestions.map((text) => {
    const path = `${askPath}?q=${encodeComponent(text)}`;
    return `<li>${renderLink(path, text, site, ' rel="nofollow"')}</li>`;
  });
  return `<div class="examples"><p id="examples">Try</p><ul aria-labelledby="examples">${items.join('')}</ul></div>`;
}
