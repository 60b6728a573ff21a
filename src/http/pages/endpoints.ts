import { z } from 'zod';
import type { Endpoint, EndpointReply } from '../../core/endpoint.ts';
import type { ProblemCode } from '../../core/problem.ts';
import { type HeaderName, listEndpointHeaders } from '../openapi/headers.ts';
import { addressProblems, upstreamProblems } from '../reads/address-route.ts';
import { findReply } from './docs/find-page.ts';
import { navigation } from './docs/navigation.ts';
import { askPath, assetPath, docsPath, findPath, maxQueryLength } from './layout.ts';

const names = navigation.flatMap(({ pages }) => pages.map(({ name }) => name));
const htmlOrMarkdown = { 'text/html': 'text', 'text/markdown': 'text' } as const;
const textProblems = ['missing_query', 'invalid_query', 'invalid_option'] as const;
const notModified = { status: 304, description: 'The caller has it already.' } as const;

/** Only a request with `q` is a read, with the headers of reads. */
const ofReads = { isOptional: true } as const;

const readHeaders = listEndpointHeaders(
  ['ETag', 'Link', 'X-Source', 'X-Cache', 'X-Result-Count', 'X-Search-Degraded', 'Retry-After'],
  ofReads,
);

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
        content: htmlOrMarkdown,
        headers: readHeaders,
      },
      { ...notModified, headers: readHeaders },
    ],
    problems: [
      'missing_query',
      'invalid_query',
      ...addressProblems,
      ...(['invalid_params', 'invalid_handle', 'invalid_cursor', 'invalid_option'] as const),
      ...(['unsupported_platform', 'invalid_key', 'not_found', 'rate_limited'] as const),
      ...upstreamProblems,
    ],
    access: 'key',
  },
];

interface PageEndpoint extends Pick<Endpoint, 'id' | 'path' | 'summary' | 'parameters'> {
  readonly found: string;
  /** Default: HTML or Markdown. */
  readonly content?: EndpointReply['content'];
  /** Headers besides the entity tag. Default: `Vary`, because `Accept` chooses the format. */
  readonly headers?: readonly HeaderName[];
  readonly others?: readonly EndpointReply[];
  /** Problems besides `route_not_found`. */
  readonly problems?: readonly ProblemCode[];
}

function describePage(page: PageEndpoint): Endpoint {
  const { found, content = htmlOrMarkdown, headers: names = ['Vary'], ...described } = page;
  const { others = [], problems = [], ...rest } = described;
  const headers = listEndpointHeaders(['ETag', ...names]);
  return {
    ...rest,
    method: 'GET',
    tag: 'pages',
    replies: [
      { status: 200, description: found, content, headers },
      { ...notModified, headers },
      ...others,
    ],
    problems: [...problems, 'route_not_found'],
    access: 'open',
  };
}

export const docsEndpoints: readonly Endpoint[] = [
  describePage({
    id: 'getDocs',
    path: docsPath,
    summary:
      'Lists the pages of the documentation, as HTML, or as Markdown where `Accept` prefers it.',
    found: 'The pages in their groups.',
  }),
  describePage({
    id: 'getDocsPage',
    path: `${docsPath}/{page}`,
    summary:
      'Gives a page of the documentation, as HTML, or as Markdown where `Accept` prefers it.',
    parameters: { path: z.object({ page: z.enum(names).describe('The name of the page.') }) },
    found: 'The page.',
  }),
  describePage({
    id: 'getDocsSource',
    path: `${docsPath}/{page}.md`,
    summary: 'Gives the Markdown of a page of the documentation, whatever `Accept` says.',
    parameters: {
      path: z.object({
        page: z
          .string()
          .meta({ description: 'The name of the page.', examples: names.slice(0, 3) }),
      }),
    },
    found: 'The page.',
    content: { 'text/markdown': 'text' },
    headers: [],
    others: [
      {
        status: 308,
        description: 'The page has another spelling.',
        headers: { Location: { description: 'The path of the page.' } },
      },
    ],
  }),
  describePage({
    id: 'searchDocs',
    path: findPath,
    summary: 'Searches the documentation; HTML, or JSON where `Accept` prefers it.',
    parameters: describeText(
      'The text to look for; HTML without it is the form alone, JSON needs it.',
    ),
    found: 'What was found, the best first.',
    content: { 'text/html': 'text', 'application/json': findReply },
    problems: textProblems,
  }),
  describePage({
    id: 'getAsset',
    path: `${assetPath}{file}`,
    summary: 'Gives a style, script or picture of the pages.',
    parameters: {
      path: z.object({ file: z.string().describe('Its name, as the pages write it.') }),
    },
    found: 'The file; for good, where its name has the hash of its content.',
    content: { 'text/css': 'text', 'text/javascript': 'text', 'image/svg+xml': 'text' },
    headers: [],
  }),
];

/** The page that answers questions, which only a server with sessions has. */
export const askEndpoints: readonly Endpoint[] = [
  describePage({
    id: 'askDocs',
    path: askPath,
    summary:
      'Answers a question from the documentation, with its sources; HTML, or Markdown where `Accept` prefers it.',
    parameters: describeText('The question; HTML without it is the form alone, Markdown needs it.'),
    found: 'The answer. A page also where it could not be given: then it says why.',
    problems: [...textProblems, 'rate_limited', 'overloaded', 'not_ready'],
  }),
];

function describeText(description: string) {
  const q = z.string().max(maxQueryLength).optional().describe(description);
  return { query: z.object({ q }) };
}
