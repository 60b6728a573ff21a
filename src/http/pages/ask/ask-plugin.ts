import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Endpoint } from '../../../core/endpoint.ts';
import { parseQuery } from '../../../core/http/query.ts';
import { Problem, problemKinds, toProblemDocument } from '../../../core/problem.ts';
import { redactKeys } from '../../../core/redact.ts';
import type { AccessLog } from '../../../web/access-log.ts';
import { toProblem } from '../../../web/errors.ts';
import { refuseOtherMethods } from '../../../web/methods.ts';
import { nothingOfItsOwn, type PreparedReply, sendPrepared } from '../../../web/reply.ts';
import { listEndpointHeaders } from '../../openapi/headers.ts';
import { type Load, overloaded } from '../../operations/load.ts';
import type { Work } from '../../operations/work.ts';
import { negotiate, offers } from '../../reads/negotiation.ts';
import type { Docs } from '../docs/docs.ts';
import { renderPage } from '../layout.ts';
import { preparePage } from '../page-headers.ts';
import { askPath, maxQueryLength } from '../paths.ts';
import { readText } from '../query-text.ts';
import { type AnswerRenderer, createAnswerRenderer } from './answer-html.ts';
import { createAnswerLinks, createForeignLinks } from './answer-links.ts';
import { type AskedQuestion, type AskOutcome, type AskPlace, describeAskPage } from './ask-page.ts';
import type { Asking, PageAnswer } from './asking.ts';

/** The context of the route on which the documentation is asked. */
export interface AskOptions {
  readonly asking: Asking;
  readonly load: Load;
  readonly work: Work;
  readonly accessLog: AccessLog;
  /** @throws Problem `route_not_found` where there is no documentation */
  open(): Docs;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * Registers the page on which the documentation is asked. With `q` the server answers by itself: as a page,
 * which a person can read without JavaScript, or as Markdown where `Accept` prefers it.
 */
export async function askPlugin(app: FastifyInstance, options: AskOptions) {
  const { open, accessLog } = options;
  const page = createAskPage(options);
  app.get(askPath, async (request, reply) => {
    open();
    const exchange = { request, reply };
    if (negotiate(request.headers.accept, offers.docs) === 'markdown') {
      const { text } = await answer(readQuestion(request), request, options);
      send(exchange, preparePage({ text, format: 'markdown', isNegotiated: true, headers: fresh }));
    } else if (isAsked(request)) {
      send(exchange, await page.reply(await ask(exchange, page.render, options)));
    } else {
      send(exchange, await page.empty());
    }
    accessLog.notice(request, reply, statusOf(reply));
  });
  refuseOtherMethods(app, askPath, { allow: ['GET', 'HEAD'] });
}

/** The log has the status of what went wrong, though the page of it is a 200. */
function statusOf({ problemCode }: FastifyReply): number {
  return problemCode === null ? 200 : problemKinds[problemCode].status;
}

/** An answer is of the moment, and what somebody asked is nobody else's. */
const fresh = { 'cache-control': 'no-store' } as const;

function send(exchange: Exchange, prepared: PreparedReply): void {
  sendPrepared(exchange, prepared, nothingOfItsOwn);
}

function isAsked({ raw }: FastifyRequest): boolean {
  return parseQuery(raw.url ?? '').q !== undefined;
}

/** @throws Problem `missing_query`, `invalid_query`, `invalid_option` */
function readQuestion(request: FastifyRequest): string {
  const question = readText(request);
  if (question !== '') return question;
  throw new Problem('missing_query', {
    detail: 'The parameter `q` is missing or blank; it takes the question.',
  });
}

/** @throws Problem what the server refuses it with */
async function answer(
  question: string,
  request: FastifyRequest,
  { asking, load, work }: AskOptions,
): Promise<PageAnswer> {
  if (load.isHigh) throw overloaded();
  return work.track(asking.answer(question, request));
}

type Render = (text: string) => Promise<string>;

/** A person gets a page that tells of the problem (docs/decisions/0029); a key in a question is not shown. */
async function ask(
  { request, reply }: Exchange,
  render: Render,
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
    const problem = toProblem(error, request);
    reply.problemCode = problem.code;
    const { baseUrl } = options.open().site;
    return withOutcome({ kind: 'refused', problem: toProblemDocument(problem, { baseUrl }) });
  }
}

/** What of the page does not depend on the request is made once. */
function createAskPage({ open, asking }: AskOptions) {
  let renderer: Promise<AnswerRenderer> | undefined;
  let kept: PreparedReply | undefined;
  const place = (): AskPlace => {
    const { site } = open();
    const links = asking.isAboutPages ? createAnswerLinks(site) : createForeignLinks();
    return { site, links, sessionBase: asking.sessionBase };
  };
  const write = (asked: AskedQuestion | null) => {
    const one = place();
    const text = renderPage(describeAskPage(asked, one), one.site);
    const headers = asked === null ? {} : fresh;
    return preparePage({ text, format: 'html', isNegotiated: true, headers });
  };
  return {
    render: async (text: string): Promise<string> => {
      renderer ??= createAnswerRenderer(place().links);
      return (await renderer)(text);
    },
    empty: async (): Promise<PreparedReply> => {
      kept ??= write(null);
      return kept;
    },
    reply: async (asked: AskedQuestion): Promise<PreparedReply> => write(asked),
  };
}

const headers = listEndpointHeaders(['ETag', 'Vary']);

/** The route on which the documentation is asked; only a server with sessions has it. */
export const askEndpoints: readonly Endpoint[] = [
  {
    id: 'askDocs',
    method: 'GET',
    path: askPath,
    tag: 'pages',
    summary:
      'Answers a question from the documentation, with its sources; HTML, or Markdown where `Accept` prefers it.',
    parameters: {
      query: z.object({
        q: z
          .string()
          .max(maxQueryLength)
          .optional()
          .describe('The question; HTML without it is the form alone, Markdown needs it.'),
      }),
    },
    replies: [
      {
        status: 200,
        description: 'The answer. A page also where it could not be given: then it says why.',
        content: { 'text/html': 'text', 'text/markdown': 'text' },
        headers,
      },
      { status: 304, description: 'The caller has it already.', headers },
    ],
    problems: [
      'missing_query',
      'invalid_query',
      'invalid_option',
      'route_not_found',
      'rate_limited',
      'overloaded',
      'not_ready',
    ],
    access: 'open',
  },
];
