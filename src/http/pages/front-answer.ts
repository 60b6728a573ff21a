import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem, toProblemDocument } from '../../core/problem.ts';
import { redactKeys } from '../../core/redact.ts';
import { sliceByTurns } from '../../core/turns.ts';
import { reads } from '../../reads/index.ts';
import { toProblem } from '../errors.ts';
import type { Headers } from '../headers.ts';
import { overloaded } from '../load.ts';
import type { PageFormat } from '../negotiation.ts';
import { nothingOfItsOwn, prepareReply, sendPrepared } from '../reply.ts';
import { createRouteHeaders, type RouteHeaders } from '../route-headers.ts';
import { readRoutes } from '../routes.ts';
import { createFoundReplies, type Found } from './front-found.ts';
import type { FrontOptions } from './front-options.ts';
import { renderFrontPage } from './front-page.ts';
import { type Question, readQuestion } from './front-question.ts';
import { renderOtherMeaning, renderProblem } from './front-result.ts';
import { pageHeaders, pageTypes, toEtag } from './page-headers.ts';

/** Answers what the front page is asked. */
export interface FrontAnswer {
  answer(exchange: Exchange, format: PageFormat): Promise<void>;
  /** Gives the headers of a problem, and of a method that is refused. */
  describe(request: FastifyRequest): Headers;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Creates what answers the front page's questions, each as the route of its read does. */
export function createFrontAnswer(options: FrontOptions): FrontAnswer {
  const { accessLog, context } = options;
  const headersOf = createHeaders(options);
  const find = createFinding(options, headersOf);
  const toReply = createFoundReplies(options);
  const questionOf = ({ raw }: FastifyRequest) => readQuestion(raw.url ?? '', context);
  const describe = (request: FastifyRequest): Headers => ({
    vary: 'Accept',
    ...headersOf(questionOf(request))?.describe(request),
  });
  const tell = (exchange: Exchange, question: Question, problem: Problem) => {
    const own = headersOf(question)?.ownOf(exchange.request) ?? nothingOfItsOwn;
    const { vary = 'Accept' } = describe(exchange.request);
    exchange.reply.problemCode = problem.code;
    accessLog.notice(exchange.request, exchange.reply, problem.status);
    sendPrepared(exchange, prepareProblemPage({ question, problem, vary }, options), own);
  };
  return {
    describe,
    answer: async (exchange, format) => {
      const { request, reply } = exchange;
      const question = questionOf(request);
      try {
        const found = await find(question, request);
        const { address } = options.identification.clientOf(request);
        const slices = sliceByTurns(options.heavyTurns, address);
        const own = headersOf(question)?.ownOf(request) ?? nothingOfItsOwn;
        sendPrepared(exchange, await toReply(found, format, slices), own);
        accessLog.notice(request, reply, 200);
      } catch (error) {
        // A program gets the problem itself; a person a page that tells of it (decision 0029).
        if (format === 'markdown' || !(error instanceof Error)) throw error;
        tell(exchange, question, toProblem(error, request));
      }
    },
  };
}

type HeadersOf = (question: Question) => RouteHeaders | undefined;

/** Gives what the route of the read says of keys and allowances; undefined where no read is asked for. */
function createHeaders({ identification, site: { baseUrl } }: FrontOptions): HeadersOf {
  const all = new Map(
    readRoutes.map((row) => [row.read, createRouteHeaders(row, { identification, baseUrl })]),
  );
  return ({ asked }) => (asked instanceof Problem ? undefined : all.get(asked.read));
}

function createFinding({ reader, work, load }: FrontOptions, headersOf: HeadersOf) {
  return async (question: Question, request: FastifyRequest): Promise<Found> => {
    const { asked } = question;
    if (asked instanceof Problem) throw asked;
    const headers = headersOf(question);
    if (headers === undefined) throw new Error(`The read ${asked.read} has no headers.`);
    if (load.isHigh) throw overloaded();
    const { refusal } = headers.identityOf(request);
    if (refusal !== null) throw refusal;
    const understood = reader.understand(reads[asked.read], asked.given);
    const answered = await work.track(reader.fetch(understood, headers.waitingOf(request)));
    const variesByKey = reads[asked.read].isBrowse;
    return { text: question.text, address: asked.address, ...answered, variesByKey };
  };
}

interface ProblemPage {
  readonly question: Question;
  readonly problem: Problem;
  readonly vary: string;
}

function prepareProblemPage(
  { question, problem, vary }: ProblemPage,
  { site, hasSample }: FrontOptions,
) {
  const document = toProblemDocument(problem, { baseUrl: site.baseUrl });
  const result = {
    text: redactKeys(question.text),
    title: document.title,
    html: `${renderOtherMeaning(question.text, site)}${renderProblem(document, site)}`,
  };
  const page = renderFrontPage({ baseUrl: site.baseUrl, hasSample }, site, result);
  const body = Buffer.from(page);
  return prepareReply(
    {
      'content-type': pageTypes.html,
      'content-length': String(body.length),
      'cache-control': 'no-store',
      etag: toEtag(body),
      vary,
      ...pageHeaders,
    },
    body,
  );
}
