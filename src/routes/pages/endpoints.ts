import { basename } from 'node:path';
import * as z from 'zod';
import { answerReply } from '../../answers/answer.ts';
import type { ProblemCode } from '../../lib/problem.ts';
import { type HeaderName, listEndpointHeaders } from '../openapi/headers.ts';
import { addressProblems, upstreamProblems } from '../reads/address-route.ts';
import { declareRoutes, type Endpoint, type EndpointReply } from '../route.ts';
import { navigation } from './docs/navigation.ts';
import { findReply } from './docs/search-index.ts';
import { askPath, assetPath, docsPath, faviconPath, findPath, maxQueryLength } from './layout.ts';

const allNames = navigation.flatMap(({ pages }) => pages.map(({ name }) => name));
const names = allNames.filter((name) => !name.includes('/'));
const apiGroups = allNames.filter((name) => name.includes('/')).map((name) => basename(name));
const htmlOrMarkdown = { 'text/html': 'text', 'text/markdown': 'text' } as const;
const textProblems = ['missing_query', 'invalid_query', 'invalid_option'] as const;
const notModified = { status: 304, description: 'The caller’s copy is still current.' } as const;

const onReads = { isOptional: true } as const;

const readHeaders = listEndpointHeaders(
  ['ETag', 'Link', 'X-Source', 'X-Cache', 'X-Result-Count', 'X-Search-Degraded', 'Retry-After'],
  onReads,
);

export const frontRoutes = declareRoutes(
  { method: 'GET', tag: 'pages', access: 'key' },
  {
    getFrontPage: {
      path: '/',
      title: 'Get the front page',
      summary: 'Returns the front page: HTML to browsers, Markdown to other clients.',
      description:
        'With `q`, the response contains the post, account, list or search that `q` requests. The request quota and the headers are those of the v1 route or permalink of the resource. As Markdown, the response has the same bytes as the response of that route, and errors are problem documents. As HTML, the status is always 200, and the page describes an error in words.',
      parameters: {
        query: z.object({
          q: z
            .string()
            .optional()
            .describe(
              'A URL, an account or search words. A URL, with or without scheme, is the URL of a post, account, list, search or hashtag on any platform or on this server. An account, such as `@ada`, `ada.example` or `user@host`, can have a path such as `/followers`. Perch searches for any other text.',
            ),
        }),
      },
      headers: {
        ...listEndpointHeaders(['Vary']),
        ...listEndpointHeaders(['X-Api-Key-Status', 'RateLimit-Policy', 'RateLimit'], onReads),
      },
      replies: [
        {
          status: 200,
          description: 'The page, with `q` including the result of the read.',
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
    },
  },
);

interface PageEndpoint extends Pick<Endpoint, 'path' | 'title' | 'summary' | 'parameters'> {
  readonly found: string;
  /** Schemas of the response body by media type. Default: HTML and Markdown. */
  readonly content?: EndpointReply['content'];
  /** Response headers besides `ETag`. Default: `Vary`, because `Accept` selects the format. */
  readonly headers?: readonly HeaderName[];
  readonly others?: readonly EndpointReply[];
  /** Error codes in addition to `route_not_found`. */
  readonly problems?: readonly ProblemCode[];
}

function describePage(page: PageEndpoint) {
  const { found, content = htmlOrMarkdown, headers: names = ['Vary'], ...described } = page;
  const { others = [], problems = [], ...rest } = described;
  const headers = listEndpointHeaders(['ETag', ...names]);
  return {
    ...rest,
    replies: [
      { status: 200, description: found, content, headers },
      { ...notModified, headers },
      ...others,
    ],
    problems: [...problems, 'route_not_found'],
  } as const;
}

const renamed: EndpointReply = {
  status: 308,
  description: 'The name of the page has another spelling.',
  headers: { Location: { description: 'The path of the page.' } },
};

const pages = { method: 'GET', tag: 'pages', access: 'open' } as const;

export const docsRoutes = declareRoutes(pages, {
  getDocs: describePage({
    path: docsPath,
    title: 'List the pages of the documentation',
    summary:
      'Lists the pages of the documentation, as HTML, or as Markdown if `Accept` prefers it.',
    found: 'The list of pages, in groups.',
  }),
  getDocsPage: describePage({
    path: `${docsPath}/{page}`,
    title: 'Get a page of the documentation',
    summary: 'Returns a page of the documentation, as HTML, or as Markdown if `Accept` prefers it.',
    parameters: { path: z.object({ page: z.enum(names).describe('The name of the page.') }) },
    found: 'The page.',
  }),
  getDocsSource: describePage({
    path: `${docsPath}/{page}.md`,
    title: 'Get a page of the documentation as Markdown',
    summary: 'Returns a page of the documentation as Markdown, regardless of `Accept`.',
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
    others: [renamed],
  }),
  getApiPage: describePage({
    path: `${docsPath}/api/{group}`,
    title: 'Get a page of the API reference',
    summary:
      'Returns a page about a group of operations, as HTML, or as Markdown if `Accept` prefers it.',
    parameters: {
      path: z.object({
        group: z.string().meta({
          description: 'The name of the group. With `.md` at the end, the page is Markdown.',
          examples: apiGroups,
        }),
      }),
    },
    found: 'The page.',
    others: [renamed],
  }),
  searchDocs: describePage({
    path: findPath,
    title: 'Search the documentation',
    summary: 'Searches the documentation; HTML, or JSON if `Accept` prefers it.',
    parameters: describeText(
      'The search text. Required for JSON; without it the HTML page has only the form.',
    ),
    found: 'The search results, the best first.',
    content: { 'text/html': 'text', 'application/json': findReply },
    problems: textProblems,
  }),
});

export const assetRoutes = declareRoutes(pages, {
  getAsset: describePage({
    path: `${assetPath}{file}`,
    title: 'Get a style sheet, script or picture of the pages',
    summary: 'Returns a style sheet, script or picture of the pages.',
    parameters: {
      path: z.object({
        file: z.string().describe('File name of the asset, as in the links of the HTML pages.'),
      }),
    },
    found: 'The file. If its name contains the hash of its content, it never changes.',
    content: { 'text/css': 'text', 'text/javascript': 'text', 'image/svg+xml': 'text' },
    headers: [],
  }),
  getFavicon: describePage({
    path: faviconPath,
    title: 'Get the icon of the pages',
    summary: 'Returns the icon of the pages, an SVG picture.',
    found: 'The icon.',
    content: { 'image/svg+xml': 'text' },
    headers: [],
  }),
});

/** Endpoint of the question page, which requires `PERCH_SESSIONS=true` (the default). */
export const askRoutes = declareRoutes(pages, {
  askDocs: describePage({
    path: askPath,
    title: 'Ask a question about the documentation',
    summary:
      'Answers a question from the documentation, with its sources; HTML to browsers, Markdown to other clients, or JSON if `Accept` prefers it.',
    parameters: describeText(
      'The question. Required for Markdown and JSON; without it the HTML page has only the form.',
    ),
    content: { ...htmlOrMarkdown, 'application/json': answerReply },
    found: 'The answer. The HTML page also has this status if it describes an error.',
    problems: [...textProblems, 'rate_limited', 'overloaded', 'not_ready'],
  }),
});

function describeText(description: string) {
  const q = z.string().max(maxQueryLength).optional().describe(description);
  return { query: z.object({ q }) };
}
