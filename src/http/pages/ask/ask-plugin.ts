import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseQuery } from '../../../core/http/query.ts';
import { Problem, toProblemDocument } from '../../../core/problem.ts';
import { redactKeys } from '../../../core/redact.ts';
import type { AccessLog } from '../../../web/access-log.ts';
import { toProblem } from '../../../web/errors.ts';
import { refuseOtherMethods } from '../../../web/methods.ts';
import { nothingOfItsOwn, type PreparedReply, sendPrepared } from '../../../web/reply.ts';
import { type Load, overloaded } from '../../operations/load.ts';
import type { Work } from '../../operations/work.ts';
import { negotiate, offers } from '../../reads/negotiation.ts';
import type { Docs } from '../docs/docs.ts';
import { renderPage } from '../layout.ts';
import { preparePage, readText } from '../page-reply.ts';
import { askPath } from '../paths.ts';
import { createAnswerLinks, createAnswerRenderer, createForeignLinks } from './answer-html.ts';
import { type AskedQuestion, type AskOutcome, type AskPlace, describeAskPage } from './ask-page.ts';

/** The answers of the server to questions of pages, which know nothing of sessions. */
export interface Asking {
  readonly sessionBase: string;
  /** Whether answers are about the pages of this site, so that their citations lead there. */
  readonly isAboutPages: boolean;
  /** Returns Markdown with citations `path#heading:line`. Throws `not_ready`, `shutting_down`, `rate_limited`, `overloaded`. */
  answer(
    question: string,
    request: FastifyRequest,
  ): Promise<{ readonly text: string; readonly abstained: boolean }>;
}

export interface AskOptions {
  readonly asking: Asking;
  readonly load: Load;
  readonly work: Work;
  readonly accessLog: AccessLog;
  /** @throws Problem `route_not_found` if there is no documentation */
  open(): Docs;
}

/** Registers the page that answers questions: as HTML without JavaScript, or as Markdown where `Accept` prefers it. */
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
    const problem = asked.outcome.kind === 'refused' ? asked.outcome.problem : null;
    // The log has the status of the problem, though the page is a 200.
    reply.problemCode = problem?.code ?? null;
    return send(page.write(asked), problem?.status);
  });
  refuseOtherMethods(app, askPath, { allow: ['GET', 'HEAD'] });
}

/** Nobody may keep an answer: it is of the moment, and the question is private. */
const fresh = { 'cache-control': 'no-store' } as const;

function readQuestion(request: FastifyRequest): string {
  const question = readText(request);
  if (question !== '') return question;
  throw new Problem('missing_query', {
    detail: 'The parameter `q` is missing or blank; it takes the question.',
  });
}

async function answer(
  question: string,
  request: FastifyRequest,
  { asking, load, work }: AskOptions,
) {
  if (load.isHigh) throw overloaded();
  return work.track(asking.answer(question, request));
}

/** Problems become part of the page (docs/decisions/0029). A key in a question is not shown. */
async function ask(
  request: FastifyRequest,
  render: (text: string) => Promise<string>,
  options: AskOptions,
): Promise<AskedQuestion> {
  let question = '';
  const withOutcome = (outcome: AskOutcome) => ({ question: redactKeys(question), outcome });
  try {
    question = readText(request);
    if (question === '') return withOutcome({ kind: 'blank' });
    const { text, abstained } = await answer(question, request, options);
    return withOutcome({ kind: 'answered', html: await render(text), abstained });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { baseUrl } = options.open().site;
    const problem = toProblemDocument(toProblem(error, request), { baseUrl });
    return withOutcome({ kind: 'refused', problem });
  }
}

/** Keeps the parts of the page that do not depend on the request. */
function createAskPage({ open, asking }: AskOptions) {
  let renderer: ReturnType<typeof createAnswerRenderer> | undefined;
  let empty: PreparedReply | undefined;
  const place = (): AskPlace => {
    const { site } = open();
    const links = asking.isAboutPages ? createAnswerLinks(site) : createForeignLinks();
    return { site, links, sessionBase: asking.sessionBase };
  };
  const write = (asked: AskedQuestion | null) => {
    const one = place();
    const html = renderPage(describeAskPage(asked, one), one.site);
    return preparePage(html, 'html', asked === null ? {} : fresh);
  };
  return {
    render: async (text: string): Promise<string> => {
      renderer ??= createAnswerRenderer(place().links);
      return (await renderer)(text);
    },
    empty: (): PreparedReply => {
      empty ??= write(null);
      return empty;
    },
    write,
  };
}
