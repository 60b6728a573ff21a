import { encodeComponent } from '../../../core/http/encode-component.ts';
import type { ProblemDocument } from '../../../core/problem.ts';
import { escapeHtml, escapeLine } from '../../../render/html/escape.ts';
import type { DocSite } from '../docs/doc-pages.ts';
import { renderProblem } from '../front/page.ts';
import { type Page, toLink } from '../layout.ts';
import { askPath, docsPath, maxQueryLength } from '../paths.ts';
import type { AnswerLinks } from './answer-html.ts';

export type AskOutcome =
  | { readonly kind: 'answered'; readonly html: string; readonly abstained: boolean }
  | { readonly kind: 'refused'; readonly problem: ProblemDocument }
  /** The form was sent without text. */
  | { readonly kind: 'blank' };

export interface AskedQuestion {
  readonly question: string;
  readonly outcome: AskOutcome;
}

export interface AskPlace {
  readonly site: DocSite;
  readonly links: AnswerLinks;
  readonly sessionBase: string;
}

export const exampleQuestions = [
  'How do I embed a post?',
  'What does the code rate_limited mean?',
  'How do I run Perch behind a proxy?',
] as const;

/** Describes the page that answers questions, with a question and its answer or without (`null`). */
export function describeAskPage(asked: AskedQuestion | null, place: AskPlace): Page {
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
<p class="kept">What is asked with JavaScript on is recorded here for a while, so that you can ask further: see <a href="${escapeHtml(toLink(`${docsPath}/sessions`, place.site))}">sessions</a>.</p>`,
  };
}

/** `answer.js` and `ask.js` read the data attributes of the form. */
function renderForm(asked: AskedQuestion | null, { site, links, sessionBase }: AskPlace): string {
  const { question = '', outcome } = asked ?? {};
  // An answered question is shown above the box, which is for the next one.
  const text = outcome?.kind === 'answered' ? '' : question;
  const data = {
    sessions: toLink(sessionBase, site),
    docs: toLink(docsPath, site),
    description: toLink('/openapi.json', site),
    pages: links.pages.join(' '),
  };
  const members = Object.entries(data).map(
    ([name, value]) => ` data-${name}="${escapeHtml(value)}"`,
  );
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

function renderTurn({ question, outcome }: AskedQuestion, site: DocSite): string {
  if (outcome.kind === 'blank') return '<p class="status">Type a question first.</p>';
  if (outcome.kind === 'refused') return renderProblem(outcome.problem, site);
  const kind = outcome.abstained ? 'turn abstained' : 'turn';
  return `<article class="${kind}" data-question="${escapeHtml(question)}">
<h2>${escapeHtml(question)}</h2>
<div class="answer">${outcome.html}</div>
</article>`;
}

function renderExamples({ site, links }: AskPlace): string {
  if (links.pages.length === 0) return '';
  const items = exampleQuestions.map((text) => {
    const href = `${toLink(askPath, site)}?q=${encodeComponent(text)}`;
    return `<li><a href="${escapeHtml(href)}" rel="nofollow">${escapeHtml(text)}</a></li>`;
  });
  return `<div class="examples"><p id="examples">Try</p><ul aria-labelledby="examples">${items.join('')}</ul></div>`;
}
