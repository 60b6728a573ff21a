import type { FastifyInstance, FastifyRequest } from 'fastify';
import { closeToPages } from '../cors.ts';
import { toDiscoveryLink } from '../discovery-links.ts';
import type { Headers } from '../headers.ts';
import { refuseOtherMethods } from '../methods.ts';
import { negotiate, offers, type PageFormat } from '../negotiation.ts';
import { nothingOfItsOwn, type PreparedReply, sendPrepared } from '../reply.ts';
import { createFrontAnswer } from './front-answer.ts';
import type { FrontFacts } from './front-facts.ts';
import { renderFrontMarkdown } from './front-markdown.ts';
import type { FrontOptions } from './front-options.ts';
import { renderFrontPage } from './front-page.ts';
import { hasQuestion } from './front-question.ts';
import type { Site } from './layout.ts';
import { preparePage } from './page-headers.ts';

/**
 * Registers `/`: HTML to a browser, Markdown to the rest (decisions section 7). With `q` it reads what
 * was pasted, by the code and on the account of the route that the read has.
 */
export async function frontPlugin(app: FastifyInstance, options: FrontOptions) {
  closeToPages(app, options.origins);
  app.decorateRequest('identity', null);
  const facts: FrontFacts = { baseUrl: options.site.baseUrl, hasSample: options.hasSample };
  const front = createFront(facts, options.site);
  const { answer, describe } = createFrontAnswer(options);
  const describeAny = (request: FastifyRequest): Headers =>
    hasQuestion(request.raw.url ?? '') ? describe(request) : { vary: 'Accept' };
  app.get('/', { config: { describe: describeAny } }, (request, reply) => {
    const format = negotiate(request.headers.accept, offers.frontPage);
    if (hasQuestion(request.raw.url ?? '')) return answer({ request, reply }, format);
    return sendPrepared({ request, reply }, front(format), nothingOfItsOwn);
  });
  refuseOtherMethods(app, '/', { allow: ['GET', 'HEAD'], describe: describeAny });
}

/** Nothing of the page without a question changes while the process runs: it is made once. */
function createFront(facts: FrontFacts, site: Site): (format: PageFormat) => PreparedReply {
  const kept = new Map<PageFormat, PreparedReply>();
  const headers = { link: toDiscoveryLink(site.baseUrl) };
  return (format) => {
    const known = kept.get(format);
    if (known !== undefined) return known;
    const text = format === 'html' ? renderFrontPage(facts, site) : renderFrontMarkdown(facts);
    const made = preparePage({ text, format, isNegotiated: true, headers });
    kept.set(format, made);
    return made;
  };
}
