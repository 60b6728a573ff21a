import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Origins } from '../../../core/http/origins.ts';
import { parseQuery } from '../../../core/http/query.ts';
import { Problem, toProblemDocument } from '../../../core/problem.ts';
import type { Sliced } from '../../../core/scheduling/slices.ts';
import { sliceByTurns } from '../../../core/scheduling/turns.ts';
import { type Answer, createRenderingCache } from '../../../fetching/plan.ts';
import type { AddressPlace } from '../../../reads/addresses/address.ts';
import { reads } from '../../../reads/index.ts';
import { type Answered, nameView } from '../../../reads/run.ts';
import { closeToPages } from '../../../web/cors.ts';
import { noteProblem, toProblem } from '../../../web/errors.ts';
import { toReplyHeaders } from '../../../web/headers.ts';
import { refuseOtherMethods } from '../../../web/methods.ts';
import {
  nothingOfItsOwn,
  type PreparedReply,
  prepareReply,
  sendPrepared,
} from '../../../web/reply.ts';
import { toDiscoveryLink } from '../../discovery/surfaces.ts';
import { refuseRead, toRequester } from '../../key-status/plugin.ts';
import { negotiate, offers, type PageFormat } from '../../reads/negotiation.ts';
import { type ReadingOptions, toReplyOptions } from '../../reads/read-routes.ts';
import { findVersioned, surfaceOf } from '../../reads/routes.ts';
import { htmlHeaders, prepareBody, preparePage } from '../layout.ts';
import {
  type FrontSite,
  renderFrontMarkdown,
  renderFrontPage,
  renderProblem,
  renderRead,
  toQuestionLink,
} from './page.ts';
import { type OwnRead, readPasted } from './pasted.ts';
import { createResultRenderer, type ResultHtml } from './result-html.ts';

interface FrontOptions extends ReadingOptions {
  readonly site: FrontSite;
  readonly origins: Origins;
}

/** Registers `/`: HTML to a browser, Markdown to others. With `q` it reads, charged as the read's own route. */
export async function frontPlugin(app: FastifyInstance, options: FrontOptions) {
  closeToPages(app, options.origins);
  const prepareFront = createFront(options.site);
  const answer = createFrontAnswer(options);
  // The allowance is that of the read, if a request asks for one.
  const allowance = ({ raw: { url = '' } }: FastifyRequest) => {
    const asked = hasQuestion(url) ? readQuestion(url, options.context).asked : null;
    return asked === null || asked instanceof Problem ? null : surfaceOf(findVersioned(asked.read));
  };
  const config = { allowance };
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('vary', 'Accept');
  });
  app.get('/', { config }, (request, reply) => {
    const format = negotiate(request.headers.accept, offers.frontPage);
    if (hasQuestion(request.raw.url ?? '')) return answer(reply, format);
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

/** Creates the answers to questions, each as the route of its read answers. */
function createFrontAnswer(options: FrontOptions) {
  const { site, accessLog, context, identification, heavyTurns } = options;
  const toReply = createFoundReplies(options);
  return async (reply: FastifyReply, format: PageFormat): Promise<void> => {
    const { request } = reply;
    const question = readQuestion(request.raw.url ?? '', context);
    const send = (prepared: PreparedReply) => {
      const hasIdentity = request.identity !== null;
      const own = hasIdentity ? toReplyOptions(request, site.baseUrl) : nothingOfItsOwn;
      sendPrepared({ request, reply }, prepared, own);
    };
    try {
      const found = await find(question, request, options);
      const slices = sliceByTurns(heavyTurns, identification.clientOf(request).address);
      send(await toReply(found, format, slices));
      accessLog.notice(request, reply, 200);
    } catch (error) {
      // A program gets the problem itself, a person a page about it (docs/decisions/0029).
      if (format === 'markdown' || !(error instanceof Error)) throw error;
      const problem = toProblem(error, request);
      noteProblem(problem, reply, accessLog);
      const document = toProblemDocument(problem, { baseUrl: site.baseUrl });
      const { title } = document;
      const html = renderProblem(document, site);
      const vary = request.identity?.variesByKey === true ? 'Accept, Authorization' : 'Accept';
      const page = renderFrontPage(site, { text: question.text, title, html });
      send(preparePage(page, 'html', { 'cache-control': 'no-store', vary }));
    }
  };
}

interface Found extends Answered {
  readonly text: string;
  readonly address: string;
  readonly variesByKey: boolean;
}

async function find({ text, asked }: Question, request: FastifyRequest, options: FrontOptions) {
  if (asked instanceof Problem) throw asked;
  const { reader, work, load, identification } = options;
  refuseRead(request, load);
  const read = reads[asked.read];
  const understood = reader.understand(read, asked.given);
  const answered = await work.track(reader.fetch(understood, toRequester(request, identification)));
  return { text, address: asked.address, ...answered, variesByKey: read.isBrowse };
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
    return {
      text,
      asked: text === '' ? new Problem('missing_query', blank) : readPasted(text, place),
    };
  } catch (error) {
    if (error instanceof Problem) return { text, asked: error };
    throw error;
  }
}

const blank = {
  detail:
    'The parameter `q` is empty; it takes the URL of a post, an account or a search, an `@handle`, or words to search for.',
};

/** Maximum bytes of Markdown that a page shows rendered, so that it takes little time; its source is shown in full. */
export const maxRenderedBytes = 32_768;

/** Creates the replies to answers: a page, or the same Markdown as at the read's own address. */
function createFoundReplies({ site, context, sharedCacheSeconds, reader }: FrontOptions) {
  const toPage = (url: string) => toQuestionLink(url, site);
  // Rendering takes longest, so it is kept beside the answer.
  const kept = createRenderingCache<ResultHtml>();
  let renderer: ReturnType<typeof createResultRenderer> | undefined;
  const renderOnce = async (found: Found, markdown: string): Promise<ResultHtml> => {
    renderer ??= createResultRenderer({ ...context, headingLevel: 3, toPage });
    const render = await renderer;
    const { answer } = found;
    const name = nameView(found, 'markdown');
    const known = kept.get(answer.renderings, name);
    if (known !== undefined) return known;
    const isTooLong = Buffer.byteLength(markdown) > maxRenderedBytes;
    const rendered = isTooLong ? tooLong : render(markdown, mastodonHostOf(answer));
    kept.set(answer.renderings, name, rendered, 2 * rendered.html.length);
    return rendered;
  };
  return async (found: Found, format: PageFormat, sliced: Sliced): Promise<PreparedReply> => {
    const { text, address, variesByKey } = found;
    const { source, cache } = found.answer;
    const representation = await reader.represent(found, 'markdown', sliced);
    await sliced.endSlice?.();
    const facts = { representation, source, cache, sharedCacheSeconds, variesByKey };
    const headers = toReplyHeaders({ ...facts, variesByAgent: false });
    if (format === 'markdown') return prepareReply(headers, representation.body);
    const markdown = representation.body.toString();
    const rendered = await renderOnce(found, markdown);
    const html = renderRead({ url: `${site.baseUrl}${address}`, markdown, rendered, source });
    const page = renderFrontPage(site, { text, title: rendered.title, html });
    return prepareBody(page, { ...headers, ...htmlHeaders });
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
