import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Endpoint } from '../../../core/endpoint.ts';
import { closeToPages } from '../../../web/cors.ts';
import { refuseOtherMethods } from '../../../web/methods.ts';
import { nothingOfItsOwn, type PreparedReply, sendPrepared } from '../../../web/reply.ts';
import { toDiscoveryLink } from '../../discovery/discovery-facts.ts';
import { listEndpointHeaders } from '../../openapi/headers.ts';
import { negotiate, offers, type PageFormat } from '../../reads/negotiation.ts';
import { preparePage } from '../page-reply.ts';
import { createFrontAnswer, type FrontOptions, hasQuestion } from './answer.ts';
import { type FrontSite, renderFrontMarkdown, renderFrontPage } from './page.ts';

/**
 * Registers `/`: HTML to a browser, Markdown to the rest. With `q` it reads what was pasted, by the code and on the
 * account of the route that the read has.
 */
export async function frontPlugin(app: FastifyInstance, options: FrontOptions) {
  closeToPages(app, options.origins);
  app.decorateRequest('identity', null);
  const prepareFront = createFront(options.site);
  const { answer, describe } = createFrontAnswer(options);
  const describeAny = (request: FastifyRequest) =>
    hasQuestion(request.raw.url ?? '') ? describe(request) : { vary: 'Accept' };
  app.get('/', { config: { describe: describeAny } }, (request, reply) => {
    const format = negotiate(request.headers.accept, offers.frontPage);
    if (hasQuestion(request.raw.url ?? '')) return answer({ request, reply }, format);
    return sendPrepared({ request, reply }, prepareFront(format), nothingOfItsOwn);
  });
  refuseOtherMethods(app, '/', { allow: ['GET', 'HEAD'], describe: describeAny });
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

/** Only reads have these headers, and only a request with `q` is a read. */
const ofReads = { isOptional: true } as const;

const ofReply = listEndpointHeaders(
  ['ETag', 'Link', 'X-Source', 'X-Cache', 'X-Result-Count', 'X-Search-Degraded', 'Retry-After'],
  ofReads,
);

/** The route of the front page, for the descriptions of the service. */
export const frontEndpoints: readonly Endpoint[] = [
  {
    id: 'getFrontPage',
    method: 'GET',
    path: '/',
    tag: 'pages',
    summary: 'The front page: HTML to a browser, Markdown to everybody else.',
    description:
      'With `q` it reads what that stands for, by the same code, for the same allowance and with the same headers as the route that the read has. In Markdown it has the same bytes, and a failure is a problem. The HTML page is always 200: it tells of a failure in words.',
    parameters: {
      query: z.object({
        q: z
          .string()
          .optional()
          .describe(
            'The URL of a post, an account, a list, a search or a hashtag on any platform or on this server, also without its scheme; an account as `@ada`, `ada.example` or `user@host`, also with a path such as `/followers`. Anything else is searched for.',
          ),
      }),
    },
    headers: {
      ...listEndpointHeaders(['Vary']),
      ...listEndpointHeaders(['X-Api-Key-Status', 'RateLimit-Policy', 'RateLimit'], ofReads),
    },
    replies: [
      {
        status: 200,
        description: 'The page, or with `q` what was read.',
        content: { 'text/html': 'text', 'text/markdown': 'text' },
        headers: ofReply,
      },
      { status: 304, description: 'The caller has it already.', headers: ofReply },
    ],
    problems: [
      'missing_query',
      'invalid_query',
      'invalid_url',
      'unsupported_host',
      'invalid_path',
      'invalid_params',
      'invalid_handle',
      'invalid_cursor',
      'invalid_option',
      'unsupported_platform',
      'invalid_key',
      'not_found',
      'rate_limited',
      'upstream_error',
      'upstream_unavailable',
      'upstream_rate_limited',
      'overloaded',
    ],
    access: 'key',
  },
];
