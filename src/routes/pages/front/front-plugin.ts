import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createRenderingCache } from '../../../fetching/plan.ts';
import type { Origins } from '../../../lib/http/origins.ts';
import { parseQuery } from '../../../lib/http/url.ts';
import { Problem, toProblemDocument } from '../../../lib/problem.ts';
import type { PostResult } from '../../../model/results.ts';
import type { AddressOptions } from '../../../reads/addresses/address.ts';
import { reads } from '../../../reads/index.ts';
import { nameView } from '../../../reads/run.ts';
import { fitInFormat, render } from '../../../render/formats.ts';
import { type Html, html } from '../../../render/html/markup.ts';
import { type ResultHtml, type ResultOptions, renderResult } from '../../../render/page/result.ts';
import { rejectOtherOrigins } from '../../cors.ts';
import { toDiscoveryLink } from '../../discovery/surfaces.ts';
import { toReplyHeaders } from '../../headers.ts';
import { refuseRead, setAllowances, toRequester } from '../../key-status/plugin.ts';
import { recordProblem, toProblem } from '../../problems.ts';
import { negotiate, offers, type PageFormat } from '../../reads/negotiation.ts';
import type { ReadingOptions } from '../../reads/read-routes.ts';
import { findVersioned, surfaceOf } from '../../reads/routes.ts';
import { type PreparedReply, prepareReply, sendPrepared } from '../../reply.ts';
import { serveRoutes } from '../../route.ts';
import { frontRoutes } from '../endpoints.ts';
import { prepareBody, preparePage, repeatedText, toHtmlHeaders } from '../layout.ts';
import { createOwnLinks, type OwnRead, parsePasted } from '../own-links.ts';
import { renderProblem } from '../problem-page.ts';
import {
  examplePostUrl,
  type FrontSite,
  renderElsewhere,
  renderExample,
  renderFrontMarkdown,
  renderFrontPage,
  renderRead,
  toQuestionLink,
} from './page.ts';

interface FrontOptions extends ReadingOptions {
  readonly site: FrontSite;
  readonly origins: Origins;
}

/** Registers `/`, as HTML or Markdown; with `q`, it shows the requested post, list or search. */
export async function frontPlugin(app: FastifyInstance, options: FrontOptions) {
  rejectOtherOrigins(app, options.origins);
  setAllowances(app, options.identification);
  const prepareFront = createFront(options, app.log);
  const answer = createFrontAnswer(options);
  // A request with `q` uses the request quota of the API route for `q`.
  const allowance = ({ raw: { url = '' } }: FastifyRequest) => {
    const target = hasQuestion(url) ? readQuestion(url, options.context).target : null;
    return target === null || target instanceof Problem
      ? null
      : surfaceOf(findVersioned(target.read));
  };
  const config = { allowance };
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('vary', 'Accept');
    done();
  });
  const getFrontPage = (request: FastifyRequest, reply: FastifyReply) => {
    const format = negotiate(request.headers.accept, offers.frontPage);
    if (hasQuestion(request.raw.url ?? '')) return answer(reply, format);
    const prepared = prepareFront(format);
    if (!(prepared instanceof Promise)) return sendPrepared(reply, prepared);
    return prepared.then((page) => sendPrepared(reply, page));
  };
  serveRoutes(app, frontRoutes, { getFrontPage }, { config });
}

function createFront(options: FrontOptions, log: FastifyBaseLogger) {
  const { site, context } = options;
  const link = toDiscoveryLink(site.baseUrl);
  const markdown = preparePage(renderFrontMarkdown(site), 'markdown', { link });
  let cached: PreparedReply | null = null;
  const writeFront = async (): Promise<PreparedReply> => {
    const example = await readExample(options).catch((err: unknown) => {
      log.warn({ err }, 'the front page has no example, because the sample cannot be read');
      return null;
    });
    // A script replaces the result in this page, which then shows pictures.
    const headers = { ...toHtmlHeaders(context.hasDirectPictures), link };
    const prepared = preparePage(renderFrontPage(site, example && { example }), 'html', headers);
    if (example !== null) cached = prepared;
    return prepared;
  };
  return (format: PageFormat) => (format === 'markdown' ? markdown : (cached ?? writeFront()));
}

function createFrontAnswer(options: FrontOptions) {
  const { site, accessLog, context } = options;
  const toReply = createFoundReplies(options);
  return async (reply: FastifyReply, format: PageFormat): Promise<FastifyReply> => {
    const { request } = reply;
    const question = readQuestion(request.raw.url ?? '', context);
    try {
      const found = await find(question, request, options);
      const sent = sendPrepared(reply, await toReply({ question, found, format, request }));
      accessLog.logIfNotable(request, reply, 200);
      return sent;
    } catch (error) {
      // Programs get the problem document, browsers a page that describes it (docs/decisions/0029).
      if (format === 'markdown' || !(error instanceof Error)) throw error;
      const problem = toProblem(error, request);
      recordProblem(problem, reply, accessLog);
      const document = toProblemDocument(problem, { baseUrl: site.baseUrl });
      const elsewhere = renderElsewhere(question.text, document, site);
      const shown = html`${renderProblem(document, site)}${elsewhere}`;
      const result = { input: question, title: document.title, html: shown };
      const page = renderFrontPage(site, { result });
      const headers = { ...toHtmlHeaders(context.hasDirectPictures), 'cache-control': 'no-store' };
      return sendPrepared(reply, preparePage(page, 'html', headers));
    }
  };
}

async function find({ target }: Question, request: FastifyRequest, options: FrontOptions) {
  if (target instanceof Problem) throw target;
  const { reader, work, load, identification } = options;
  refuseRead(request, load);
  const parsed = reader.parse(reads[target.read], target.given);
  const answered = await work.track(reader.fetch(parsed, toRequester(request, identification)));
  return { target, ...answered };
}

type Found = Awaited<ReturnType<typeof find>>;

function toWatched({ read, given }: OwnRead): readonly string[] | null {
  const { handle, q, platform } = given;
  if (read === 'getProfile' && typeof handle === 'string') return [`@${handle}`];
  // A terminal cannot take all characters, and a hyphen would begin an option.
  if (read !== 'searchPosts' || typeof q !== 'string' || /^-|\p{Cc}/u.test(q)) return null;
  return ['search', q, ...(typeof platform === 'string' ? ['--platform', platform] : [])];
}

interface Question {
  readonly text: string;
  /** Platform that the visitor chose for words; an empty string for none. */
  readonly platform: string;
  readonly target: OwnRead | Problem;
}

function hasQuestion(url: string): boolean {
  return url.length > 1 && parseQuery(url).q !== undefined;
}

function readQuestion(url: string, options: AddressOptions): Question {
  const { q = '', platform: given = '' } = parseQuery(url);
  const platform = [given].flat()[0] ?? '';
  if (typeof q !== 'string') {
    const problem = new Problem('invalid_option', { detail: repeatedText, param: 'q' });
    return { text: q[0]?.trim() ?? '', platform, target: problem };
  }
  const text = q.trim();
  if (text === '') return { text, platform, target: new Problem('missing_query', blank) };
  try {
    return { text, platform, target: parsePasted(text, options, given) };
  } catch (error) {
    if (error instanceof Problem) return { text, platform, target: error.with({ param: 'q' }) };
    throw error;
  }
}

const blank = {
  detail:
    'The text is empty. Enter the URL of a post, an account or a search, an `@handle`, or words to search for.',
};

interface Asked {
  readonly question: Question;
  readonly found: Found;
  readonly format: PageFormat;
  readonly request: FastifyRequest;
}

/** Returns the options of results. Their links lead to the result on the front page. */
const toResultOptions = ({ context, site }: ExampleOptions): ResultOptions => ({
  ...context,
  toOwnPage: createOwnLinks(context, (_address, url) => toQuestionLink(url, site)),
  level: 3,
});

function createFoundReplies(options: FrontOptions) {
  const { site, context, sharedCacheSeconds, reader, heavyTurns, identification } = options;
  const resultOptions = toResultOptions(options);
  // Rendering is the slowest step, so its result is cached with the answer.
  const cache = createRenderingCache<ResultHtml>();
  const renderOnce = async (found: Found, request: FastifyRequest): Promise<ResultHtml> => {
    const { renderings } = found.answer;
    const name = nameView(found, 'html');
    const cached = cache.get(renderings, name);
    if (cached !== undefined) return cached;
    await heavyTurns.take(identification.clientOf(request));
    const { result } = fitInFormat(reader.assemble(found), { format: 'html', context });
    if (result.kind === 'embed') throw new Error('The front page does not show oEmbed documents.');
    const rendered = renderResult(result, resultOptions);
    cache.set(renderings, name, rendered, 2 * rendered.html.length);
    return rendered;
  };
  return async ({ question: input, found, format, request }: Asked): Promise<PreparedReply> => {
    const { source, cache: state } = found.answer;
    await heavyTurns.take(identification.clientOf(request));
    const representation = await reader.represent(found, 'markdown', request.span);
    const facts = { representation, source, cache: state, sharedCacheSeconds };
    const headers = toReplyHeaders({ ...facts, variesByAgent: false, variesByMode: false });
    if (format === 'markdown') return prepareReply(headers, representation.body);
    const rendered = await renderOnce(found, request);
    const shown = renderRead({
      url: `${site.baseUrl}${found.target.address}`,
      hasFeeds: representation.feedUrl !== null,
      watched: toWatched(found.target),
      markdown: representation.body.toString(),
      ...{ rendered, source },
    });
    const result = { input, title: rendered.title, html: shown };
    return prepareBody(renderFrontPage(site, { result }), {
      ...headers,
      ...toHtmlHeaders(context.hasDirectPictures),
    });
  };
}

type ExampleOptions = Pick<ReadingOptions, 'reader' | 'context'> & { readonly site: FrontSite };

const shownPosts = 3;

const timeoutMs = 5000;

/** Returns an empty part without a sample. Throws if the archive cannot be read yet. */
async function readExample(options: ExampleOptions): Promise<Html> {
  const { reader, context, site } = options;
  if (!site.hasSample) return html``;
  const url = examplePostUrl(site);
  const parsed = reader.parse(reads.getPost, { url });
  const found = await reader.fetch(parsed, { signal: AbortSignal.timeout(timeoutMs) });
  const whole = reader.assemble(found) as PostResult;
  const result = { ...whole, posts: whole.posts.slice(0, shownPosts) };
  const rendered = renderResult(result, toResultOptions(options));
  const { body } = render(result, { format: 'markdown', context });
  return renderExample({ url, markdown: body, rendered }, site);
}
