import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Origins } from '../../../core/http/origins.ts';
import { parseQuery } from '../../../core/http/query.ts';
import { Problem, toProblemDocument } from '../../../core/problem.ts';
import { redactKeys } from '../../../core/redact.ts';
import type { Sliced } from '../../../core/scheduling/slices.ts';
import { sliceByTurns, type Turns } from '../../../core/scheduling/turns.ts';
import type { Answer } from '../../../fetching/plan.ts';
import { createKeptViews } from '../../../fetching/views.ts';
import type { AddressPlace } from '../../../reads/addresses/address.ts';
import { reads } from '../../../reads/index.ts';
import type { PlanContext } from '../../../reads/read.ts';
import { type Answered, nameView, type Reader } from '../../../reads/run.ts';
import type { AccessLog } from '../../../web/access-log.ts';
import { closeToPages } from '../../../web/cors.ts';
import { toProblem } from '../../../web/errors.ts';
import { toReplyHeaders } from '../../../web/headers.ts';
import { refuseOtherMethods } from '../../../web/methods.ts';
import {
  nothingOfItsOwn,
  type PreparedReply,
  prepareReply,
  sendPrepared,
} from '../../../web/reply.ts';
import { toDiscoveryLink } from '../../discovery/discovery-facts.ts';
import type { AllowanceSurface, Identification } from '../../key-status/identity.ts';
import { identityOf, toWaiting } from '../../key-status/plugin.ts';
import { type Load, overloaded } from '../../operations/load.ts';
import type { Work } from '../../operations/work.ts';
import { negotiate, offers, type PageFormat } from '../../reads/negotiation.ts';
import { toReplyOptions } from '../../reads/read-routes.ts';
import { findVersioned, surfaceOf } from '../../reads/routes.ts';
import { htmlHeaders, prepareBody, preparePage } from '../page-reply.ts';
import {
  type FrontSite,
  renderFrontMarkdown,
  renderFrontPage,
  renderOtherMeaning,
  renderProblem,
  renderRead,
  toQuestionLink,
} from './page.ts';
import { type OwnRead, readPasted } from './pasted.ts';
import { createResultRenderer, type ResultHtml } from './result-html.ts';

interface FrontOptions {
  readonly site: FrontSite;
  readonly origins: Origins;
  readonly reader: Reader;
  readonly context: PlanContext;
  readonly heavyTurns: Turns;
  readonly identification: Identification;
  readonly sharedCacheSeconds: number;
  readonly work: Work;
  readonly load: Load;
  readonly accessLog: AccessLog;
}

/** Registers `/`: HTML to a browser, Markdown to others. With `q` it reads, charged as the read's own route. */
export async function frontPlugin(app: FastifyInstance, options: FrontOptions) {
  closeToPages(app, options.origins);
  const prepareFront = createFront(options.site);
  const answer = createFrontAnswer(options);
  const config = { allowance: (request: FastifyRequest) => allowanceOf(request, options.context) };
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('vary', 'Accept');
  });
  app.get('/', { config }, (request, reply) => {
    const format = negotiate(request.headers.accept, offers.frontPage);
    if (hasQuestion(request.raw.url ?? '')) return answer({ request, reply }, format);
    return sendPrepared({ request, reply }, prepareFront(format), nothingOfItsOwn);
  });
  refuseOtherMethods(app, '/', { allow: ['GET', 'HEAD'], config });
}

/** The page without a question is made once, because it never changes while the process runs. */
function createFront(site: FrontSite): (format: PageFormat) => PreparedReply {
  const kept = new Map<PageFormat, PreparedReply>();
  const headers = { link: toDiscoveryLink(site.baseUrl) };
  return (format) => {
    const text = () => (format === 'html' ? renderFrontPage(site) : renderFrontMarkdown(site));
    const reply = kept.get(format) ?? preparePage(text(), format, headers);
    kept.set(format, reply);
    return reply;
  };
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Creates the answers to questions, each as the route of its read answers. */
function createFrontAnswer(options: FrontOptions) {
  const { accessLog, context, identification, heavyTurns } = options;
  const toReply = createFoundReplies(options);
  const ownOf = (request: FastifyRequest) =>
    request.identity === null ? nothingOfItsOwn : toReplyOptions(request, options.site.baseUrl);
  const sendProblemPage = (exchange: Exchange, { text }: Question, problem: Problem) => {
    const { request, reply } = exchange;
    const vary = request.identity?.variesByKey === true ? 'Accept, Authorization' : 'Accept';
    reply.problemCode = problem.code;
    accessLog.notice(request, reply, problem.status);
    const page = renderProblemPage(text, problem, options.site);
    const headers = { 'cache-control': 'no-store', vary };
    sendPrepared(exchange, preparePage(page, 'html', headers), ownOf(request));
  };
  return async (exchange: Exchange, format: PageFormat): Promise<void> => {
    const { request, reply } = exchange;
    const question = readQuestion(request.raw.url ?? '', context);
    try {
      const found = await find(question, request, options);
      const slices = sliceByTurns(heavyTurns, identification.clientOf(request).address);
      sendPrepared(exchange, await toReply(found, format, slices), ownOf(request));
      accessLog.notice(request, reply, 200);
    } catch (error) {
      // A program gets the problem itself, a person a page about it (docs/decisions/0029).
      if (format === 'markdown' || !(error instanceof Error)) throw error;
      sendProblemPage(exchange, question, toProblem(error, request));
    }
  };
}

/** Returns the allowance of the read that a request asks for; `null` if it asks for none. */
function allowanceOf({ raw }: FastifyRequest, place: AddressPlace): AllowanceSurface | null {
  const { url = '' } = raw;
  if (!hasQuestion(url)) return null;
  const { asked } = readQuestion(url, place);
  return asked instanceof Problem ? null : surfaceOf(findVersioned(asked.read));
}

interface Found extends Answered {
  readonly text: string;
  readonly address: string;
  readonly variesByKey: boolean;
}

async function find(
  { text, asked }: Question,
  request: FastifyRequest,
  options: FrontOptions,
): Promise<Found> {
  if (asked instanceof Problem) throw asked;
  const { reader, work, load, identification } = options;
  const refusal = load.isHigh ? overloaded() : identityOf(request).refusal;
  if (refusal !== null) throw refusal;
  const read = reads[asked.read];
  const understood = reader.understand(read, asked.given);
  const answered = await work.track(reader.fetch(understood, toWaiting(request, identification)));
  return { text, address: asked.address, ...answered, variesByKey: read.isBrowse };
}

function renderProblemPage(text: string, problem: Problem, site: FrontSite): string {
  const document = toProblemDocument(problem, { baseUrl: site.baseUrl });
  const html = `${renderOtherMeaning(text, site)}${renderProblem(document, site)}`;
  return renderFrontPage(site, { text: redactKeys(text), title: document.title, html });
}

interface Question {
  readonly text: string;
  readonly asked: OwnRead | Problem;
}

function hasQuestion(url: string): boolean {
  return url.length > 1 && parseQuery(url).q !== undefined;
}

/** Returns the question of the front page's URL. It never throws a `Problem`. */
function readQuestion(url: string, place: AddressPlace): Question {
  const { q = '' } = parseQuery(url);
  if (typeof q !== 'string') {
    const detail = 'The parameter `q` is given more than once; it takes one value.';
    return { text: q[0]?.trim() ?? '', asked: new Problem('invalid_option', { detail }) };
  }
  const text = q.trim();
  try {
    return { text, asked: text === '' ? nothingAsked() : readPasted(text, place) };
  } catch (error) {
    if (error instanceof Problem) return { text, asked: error };
    throw error;
  }
}

function nothingAsked(): Problem {
  return new Problem('missing_query', {
    detail:
      'The parameter `q` is empty; it takes the URL of a post, an account or a search, an `@handle`, or words to search for.',
  });
}

function createFoundReplies(options: FrontOptions) {
  const renderFound = createPages(options);
  const { sharedCacheSeconds, reader } = options;
  return async (found: Found, format: PageFormat, sliced: Sliced): Promise<PreparedReply> => {
    const { source, cache } = found.answer;
    const representation = await reader.represent(found, 'markdown', sliced);
    await sliced.endSlice?.();
    const varies = { variesByAgent: false, variesByKey: found.variesByKey };
    const facts = { representation, source, cache, sharedCacheSeconds, ...varies };
    const headers = toReplyHeaders(facts);
    if (format === 'markdown') return prepareReply(headers, representation.body);
    const page = await renderFound(found, representation.body.toString());
    return prepareBody(page, { ...headers, ...htmlHeaders });
  };
}

/** Maximum bytes of Markdown that a page shows rendered, so that it takes little time; the source is shown whatever its length. */
export const maxRenderedBytes = 32_768;

function createPages({ site, context }: FrontOptions) {
  const toPage = (url: string) => toQuestionLink(url, site);
  // Rendering takes longest, so it is kept beside the answer.
  const kept = createKeptViews<ResultHtml>();
  let renderer: ReturnType<typeof createResultRenderer> | undefined;
  return async (found: Found, markdown: string): Promise<string> => {
    renderer ??= createResultRenderer({ ...context, headingLevel: 3, toPage });
    const render = await renderer;
    const { text, address, answer } = found;
    const name = nameView(found, 'markdown');
    let rendered = kept.get(answer.views, name);
    if (rendered === undefined) {
      const isTooLong = Buffer.byteLength(markdown) > maxRenderedBytes;
      rendered = isTooLong ? tooLong : render(markdown, mastodonHostOf(answer));
      kept.set(answer.views, name, rendered, 2 * rendered.html.length);
    }
    const url = `${site.baseUrl}${address}`;
    const shown = renderRead({ url, markdown, rendered, source: answer.source });
    const html = `${renderOtherMeaning(text, site)}${shown}`;
    return renderFrontPage(site, { text: redactKeys(text), title: rendered.title, html });
  };
}

/** Returns the Mastodon server that sent its own account or a post by one; `null` for any other answer. */
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
