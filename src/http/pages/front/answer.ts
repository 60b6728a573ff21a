import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Origins } from '../../../core/http/origins.ts';
import { parseQuery } from '../../../core/http/query.ts';
import { Problem, toProblemDocument } from '../../../core/problem.ts';
import { redactKeys } from '../../../core/redact.ts';
import type { Sliced } from '../../../core/scheduling/slices.ts';
import { sliceByTurns, type Turns } from '../../../core/scheduling/turns.ts';
import type { Answer } from '../../../fetching/plan.ts';
import { createKeptViews, type KeptViews } from '../../../fetching/views.ts';
import type { AddressPlace } from '../../../reads/addresses/address.ts';
import { reads } from '../../../reads/index.ts';
import type { PlanContext } from '../../../reads/read.ts';
import { type Answered, nameView, type Reader } from '../../../reads/run.ts';
import type { Representation } from '../../../render/formats.ts';
import type { AccessLog } from '../../../web/access-log.ts';
import { toProblem } from '../../../web/errors.ts';
import { type Headers, toReplyHeaders } from '../../../web/headers.ts';
import {
  nothingOfItsOwn,
  type PreparedReply,
  prepareReply,
  sendPrepared,
} from '../../../web/reply.ts';
import type { Identification } from '../../key-status/identity.ts';
import { type Load, overloaded } from '../../operations/load.ts';
import type { Work } from '../../operations/work.ts';
import type { PageFormat } from '../../reads/negotiation.ts';
import { createRouteHeaders, type RouteHeaders } from '../../reads/route-headers.ts';
import { readRoutes } from '../../reads/routes.ts';
import type { Site } from '../layout.ts';
import type { OwnRead } from '../own-address.ts';
import { pageHeaders, pageTypes, toEtag } from '../page-headers.ts';
import {
  renderFrontPage,
  renderOtherMeaning,
  renderProblem,
  renderRead,
  toQuestionLink,
} from './page.ts';
import { readPasted } from './pasted.ts';
import { createResultRenderer, type ResultHtml, type ResultRenderer } from './result-html.ts';

/** The context of the front page: all that it may use. */
export interface FrontOptions {
  readonly site: Site;
  readonly origins: Origins;
  /** Whether the archive holds the sample, which can be read without a network. */
  readonly hasSample: boolean;
  readonly reader: Reader;
  readonly context: PlanContext;
  /** Turns of clients with work that takes long. */
  readonly heavyTurns: Turns;
  readonly identification: Identification;
  readonly sharedCacheSeconds: number;
  readonly work: Work;
  readonly load: Load;
  readonly accessLog: AccessLog;
}

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

/** What the front page is asked. */
interface Question {
  /** What is in the box, trimmed. */
  readonly text: string;
  /** The read that it stands for, or why it stands for none. */
  readonly asked: OwnRead | Problem;
}

/** Tells whether the URL of the front page asks something. */
export function hasQuestion(url: string): boolean {
  return url.length > 1 && parseQuery(url).q !== undefined;
}

/** Returns what the URL of the front page asks, or the problem with it; it throws none. */
function readQuestion(url: string, place: AddressPlace): Question {
  const { q = '' } = parseQuery(url);
  if (typeof q !== 'string') {
    const detail = 'The parameter `q` is given more than once; it takes one value.';
    return { text: q[0]?.trim() ?? '', asked: new Problem('invalid_option', { detail }) };
  }
  const text = q.trim();
  return { text, asked: text === '' ? nothingAsked() : understand(text, place) };
}

function nothingAsked(): Problem {
  return new Problem('missing_query', {
    detail:
      'The parameter `q` is empty; it takes the URL of a post, an account or a search, an `@handle`, or words to search for.',
  });
}

function understand(text: string, place: AddressPlace): OwnRead | Problem {
  try {
    return readPasted(text, place);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** What was asked, and its answer. */
interface Found extends Answered {
  /** What is in the box. */
  readonly text: string;
  /** The path and query of Perch's own that gives the same. */
  readonly address: string;
  /** Whether its own address looks at keys. */
  readonly variesByKey: boolean;
}

/** Creates the replies to what was found: a page, or the same Markdown as at its own address. */
function createFoundReplies(
  options: FrontOptions,
): (found: Found, format: PageFormat, sliced: Sliced) => Promise<PreparedReply> {
  const toPage = createPages(options);
  const { sharedCacheSeconds, reader } = options;
  return async (found, format, sliced) => {
    const { answer } = found;
    const markdown = await reader.represent(found, 'markdown', sliced);
    await sliced.endSlice?.();
    const representation = format === 'html' ? await toPage(found, markdown) : markdown;
    const { source, cache } = answer;
    const varies = { variesByAgent: false, variesByKey: found.variesByKey };
    const facts = { representation, source, cache, sharedCacheSeconds, ...varies };
    const headers = { ...toReplyHeaders(facts), ...(format === 'html' ? pageHeaders : {}) };
    return prepareReply(headers, representation.body);
  };
}

/** Maximum bytes of Markdown that a page shows rendered, so that it takes little time; the source is shown whatever its length. */
export const maxRenderedBytes = 32_768;

function createPages({ site, hasSample, context }: FrontOptions) {
  const { baseUrl } = site;
  const toPage = (url: string) => toQuestionLink(url, site);
  const kept = createKeptViews<ResultHtml>();
  let renderer: Promise<ResultRenderer> | undefined;
  return async (found: Found, markdown: Representation): Promise<Representation> => {
    renderer ??= createResultRenderer({ ...context, headingLevel: 3, toPage });
    const render = await renderer;
    const { text, address, answer } = found;
    const source = markdown.body.toString();
    const rendered = keep(kept, found, () =>
      markdown.body.length > maxRenderedBytes ? tooLong : render(source, mastodonHostOf(answer)),
    );
    const shown = renderRead({
      url: `${baseUrl}${address}`,
      markdown: source,
      rendered,
      source: answer.source,
    });
    const html = `${renderOtherMeaning(text, site)}${shown}`;
    const result = { text: redactKeys(text), title: rendered.title, html };
    const body = Buffer.from(renderFrontPage({ baseUrl, hasSample }, site, result));
    return { ...markdown, body, mediaType: pageTypes.html, etag: toEtag(body) };
  };
}

/** Returns the Mastodon server that sent its own account or a post by one; null for any other answer. */
function mastodonHostOf({ found, source }: Answer): string | null {
  const subject = 'post' in found ? found.post : found.account;
  const account = subject !== null && 'author' in subject ? subject.author : subject;
  const isCopy = subject !== null && 'copied_from' in subject;
  if (source !== 'mastodon' || account === null || isCopy) return null;
  const { hostname } = new URL(account.url);
  return account.screen_name.endsWith(`@${hostname}`) ? hostname : null;
}

const tooLong: ResultHtml = {
  title: 'Result',
  html: '<p>This is too long to be shown rendered. Its source is here in full.</p>\n',
};

/** Rendering takes longest, so it is kept beside the answer. */
function keep(kept: KeptViews<ResultHtml>, found: Found, render: () => ResultHtml): ResultHtml {
  const { views } = found.answer;
  const name = nameView(found, 'markdown');
  const known = kept.get(views, name);
  if (known !== undefined) return known;
  const made = render();
  kept.set(views, name, made, 2 * made.html.length);
  return made;
}
