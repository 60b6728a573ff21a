import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { type Clock, toIsoSeconds } from '../../lib/clock.ts';
import { toJsonBody } from '../../lib/http/json-bodies.ts';
import type { JsonSchema } from '../../lib/json-schema.ts';
import { allReads } from '../../reads/index.ts';
import { describeOpenApi } from '../openapi/document.ts';
import { keepParameters, readExamples } from '../openapi/examples.ts';
import { listEndpointHeaders, notModified } from '../openapi/headers.ts';
import { isApiPage } from '../pages/docs/navigation.ts';
import { askPath, prepareBody } from '../pages/layout.ts';
import { negotiate, offers } from '../reads/negotiation.ts';
import { previewProducts } from '../reads/preview-crawlers.ts';
import { historyRoutes, readRoutes } from '../reads/routes.ts';
import { sendPrepared } from '../reply.ts';
import { type Endpoint, route } from '../route.ts';
import { apiIndex, describeApi, toApiMarkdown } from './api-description.ts';
import {
  apiCatalog,
  ardManifest,
  type DiscoveryFacts,
  describeApiCatalog,
  describeArd,
  describeServerCard,
  discoveryPaths,
  serverCard,
  serverCardType,
  toCatalogLink,
  toDiscoveryLink,
} from './surfaces.ts';

const json = 'application/json';
const plainText = { mediaType: 'text/plain', schema: 'text' } as const;

interface DiscoveryDocument extends Pick<Endpoint, 'id' | 'path' | 'title' | 'summary'> {
  /** Default: `application/json`, which more clients accept than special JSON types. */
  readonly mediaType?: string;
  readonly schema: z.ZodType | 'text';
  readonly write: (facts: DiscoveryFacts, nowMs: number) => unknown;
  readonly writeMarkdown?: (facts: DiscoveryFacts, nowMs: number) => string;
  readonly toLink?: (facts: DiscoveryFacts) => string;
}

const openApiDocument = z.looseObject({
  openapi: z.string().describe('The version of OpenAPI.'),
  info: z.looseObject({ title: z.string(), version: z.string().describe('The version of Perch.') }),
  paths: z.record(z.string(), z.looseObject({})),
});

const documents: readonly DiscoveryDocument[] = [
  {
    id: 'getApiIndex',
    path: discoveryPaths.apiIndex,
    title: 'Get a short description of the server',
    summary: 'Describes the service in brief: surfaces, routes, formats, limits and versioning.',
    schema: apiIndex,
    write: describeApi,
    writeMarkdown: (facts, nowMs) => toApiMarkdown(describeApi(facts, nowMs)),
    toLink: ({ baseUrl }) => toDiscoveryLink(baseUrl),
  },
  {
    id: 'getArdManifest',
    path: discoveryPaths.ard,
    title: 'Get the ARD manifest',
    summary: 'Lists the APIs for programs (Agentic Resource Discovery v0.91).',
    schema: ardManifest,
    write: describeArd,
  },
  {
    id: 'getAiCatalog',
    path: discoveryPaths.aiCatalog,
    title: 'Get the ARD manifest at its previous path',
    summary: 'Returns the manifest of `/.well-known/ard.json` at the path of the previous format.',
    schema: ardManifest,
    write: describeArd,
  },
  {
    id: 'getApiCatalog',
    path: discoveryPaths.apiCatalog,
    title: 'Get the API catalog',
    summary: 'Links each API to its description, documentation and status (RFC 9727).',
    // The profile identifies a catalog (RFC 9727 §4, RFC 9264 §4.2).
    mediaType: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    schema: apiCatalog,
    write: describeApiCatalog,
    toLink: toCatalogLink,
  },
  {
    id: 'getMcpServerCard',
    path: discoveryPaths.serverCard,
    title: 'Get the MCP server card',
    summary: 'Describes the MCP server and its address (SEP-2127).',
    mediaType: serverCardType,
    schema: serverCard,
    write: describeServerCard,
  },
  {
    id: 'getLlmsText',
    path: discoveryPaths.llms,
    title: 'Get llms.txt',
    summary: 'Introduces the service to language models, with links to every page.',
    ...plainText,
    write: writeLlmsText,
  },
  {
    id: 'getLlmsFullText',
    path: discoveryPaths.llmsFull,
    title: 'Get all documentation as one text',
    summary: 'Returns all pages of the user documentation as one text.',
    ...plainText,
    write: writeLlmsFullText,
  },
  {
    id: 'getRobotsText',
    path: discoveryPaths.robots,
    title: 'Get robots.txt',
    summary: 'Lists the paths that crawlers may fetch (RFC 9309).',
    ...plainText,
    write: writeRobotsText,
  },
  {
    id: 'getSecurityText',
    path: discoveryPaths.security,
    title: 'Get security.txt',
    summary: 'Returns the contact for reports of vulnerabilities (RFC 9116).',
    ...plainText,
    write: writeSecurityText,
  },
  {
    id: 'getOpenApi',
    path: discoveryPaths.openApi,
    title: 'Get the OpenAPI description',
    summary: 'Describes every route, parameter and response (OpenAPI 3.1).',
    schema: openApiDocument,
    write: describeForPrograms,
  },
];

/** Returns the OpenAPI description without recorded responses, which would double it. */
export function describeForPrograms(facts: DiscoveryFacts, nowMs: number): JsonSchema {
  const examples = keepParameters(readExamples(facts.baseUrl));
  return describeOpenApi({ ...facts, nowMs, examples });
}

export const discoveryRoutes: readonly Endpoint[] = documents.map(
  ({ id, path, title, summary, mediaType = json, schema, writeMarkdown, toLink }) => {
    const vary = { description: '`Accept` chooses between JSON and Markdown.' };
    const headers = {
      ...listEndpointHeaders(['ETag']),
      ...(toLink && { Link: { description: 'URLs of the other documents (RFC 8288).' } }),
      ...(writeMarkdown && { Vary: vary }),
    };
    const content = {
      [mediaType]: schema,
      ...(writeMarkdown && { 'text/markdown': 'text' as const }),
    };
    return {
      id,
      method: 'GET',
      path,
      tag: 'discovery',
      title,
      summary,
      replies: [
        { status: 200, description: 'The document.', content, headers },
        { status: 304, description: notModified, headers },
      ],
      problems: [],
      access: 'open',
    };
  },
);

/** Registers routes such as `/openapi.json`, whose documents are created once a day (UTC). */
export async function discoveryPlugin(
  app: FastifyInstance,
  { clock, ...facts }: DiscoveryFacts & { readonly clock: Clock },
): Promise<void> {
  for (const { path, mediaType = json, schema, write, writeMarkdown, toLink } of documents) {
    const headers = {
      'cache-control': 'public, max-age=60',
      ...(toLink && { link: toLink(facts) }),
      ...(writeMarkdown && { vary: 'Accept' }),
    };
    const cacheReply = (type: string, writeBody: DiscoveryDocument['write']) =>
      cacheForTheDay((nowMs) => {
        const written = writeBody(facts, nowMs);
        const body = typeof written === 'string' ? written : toJsonBody(written);
        return prepareBody(body, { ...headers, 'content-type': type });
      }, clock);
    const charset = mediaType === json || schema === 'text' ? '; charset=utf-8' : '';
    const usual = cacheReply(`${mediaType}${charset}`, write);
    const markdown = writeMarkdown && cacheReply('text/markdown; charset=utf-8', writeMarkdown);
    route(app, path, {
      GET: (request, reply) => {
        const isMarkdown = negotiate(request.headers.accept, offers.apiIndex) === 'markdown';
        const chosen = (isMarkdown && markdown) || usual;
        return sendPrepared(reply, chosen());
      },
    });
  }
}

/** Names (RFC 9309 §2.2.1) of fetchers, documented by their owners, that act for one person. */
const personalFetchers: readonly string[] = [
  'ChatGPT-User', // https://platform.openai.com/docs/bots
  'Claude-User', // https://support.claude.com/en/articles/8896518
  'Perplexity-User', // https://docs.perplexity.ai/guides/bots
  'MistralAI-User', // https://docs.mistral.ai/robots
  'ModelContextProtocol', // https://github.com/modelcontextprotocol/servers/tree/main/src/fetch
  'meta-externalfetcher', // https://developers.facebook.com/docs/sharing/webmasters/web-crawlers
  'Amzn-User', // https://developer.amazon.com/amazonbot
  // https://developers.google.com/crawling/docs/crawlers-fetchers/google-user-triggered-fetchers
  'Google-NotebookLM',
  'Google-GeminiNotebook',
];

const dayMs = 86_400_000;

/** Caches `make` until midnight UTC, when the deprecation states of routes can change. */
export function cacheForTheDay<Value>(make: (nowMs: number) => Value, clock: Clock): () => Value {
  let cached: { readonly day: number; readonly value: Value } | undefined;
  return () => {
    const nowMs = clock.now();
    const day = Math.floor(nowMs / dayMs);
    if (cached?.day !== day) cached = { day, value: make(nowMs) };
    return cached.value;
  };
}

/**
 * Writes `/robots.txt` (RFC 9309). Crawlers may not request paths that cause upstream requests, nor
 * `/docs/ask` with a question. Fetchers that act for one person, and link-preview crawlers if
 * `linkPreviews` is `true`, may request all paths outside `/api/`.
 */
function writeRobotsText({ baseUrl, endpoints, linkPreviews }: DiscoveryFacts): string {
  const open = endpoints
    .filter(({ tag, method }) => method === 'GET' && (tag === 'discovery' || tag === 'pages'))
    .map(({ path }) => (path.includes('{') ? path.slice(0, path.indexOf('{')) : `${path}$`));
  const invited = [...personalFetchers, ...(linkPreviews ? previewProducts : [])];
  const lines = [
    '# Pages and descriptions are open to crawlers. Reads are not, because each costs a request to an upstream.',
    'User-agent: *',
    ...[...new Set(open)].map((pattern) => `Allow: ${pattern}`),
    ...(endpoints.some(({ path }) => path === askPath) ? [`Disallow: ${askPath}?`] : []),
    'Disallow: /',
    '',
    '# These fetch what a person has just asked for or shared.',
    ...invited.map((name) => `User-agent: ${name}`),
    'Allow: /',
    'Disallow: /api/',
    '',
    // Directive of ARD §5.1; RFC 9309 §2.2.4 allows other directives.
    `Agentmap: ${baseUrl}${discoveryPaths.ard}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Writes `/.well-known/security.txt` (RFC 9116), which expires after 90 days. */
function writeSecurityText({ baseUrl, contacts }: DiscoveryFacts, nowMs: number): string {
  const today = nowMs - (nowMs % dayMs);
  // RFC 9116 §2.5.5 recommends less than a year.
  const expiry = toIsoSeconds(today + 90 * dayMs);
  const lines = [
    `Contact: ${contacts.security}`,
    `Expires: ${expiry}`,
    'Preferred-Languages: en',
    `Canonical: ${baseUrl}${discoveryPaths.security}`,
    `Policy: ${baseUrl}${discoveryPaths.docs}/security`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Writes `/llms.txt` (llmstxt.org): a title, a summary, the operations, and links. */
export function writeLlmsText({ baseUrl, endpoints, pages }: DiscoveryFacts): string {
  const routes = [...readRoutes, ...historyRoutes].filter(({ surface }) => surface === 'v1');
  const hasAskPage = endpoints.some(({ path }) => path === askPath);
  const descriptions = Object.entries(titles).flatMap(([path, title]) => {
    const served = endpoints.find((endpoint) => endpoint.path === path);
    return served === undefined ? [] : [`- [${title}](${baseUrl}${path}): ${served.summary}`];
  });
  const blocks = [
    '# Perch',
    '> Reads public social posts, profiles, followers and searches, and returns Markdown, JSON, web pages or feeds. No account or key is required, and nothing can be written.',
    `Append the path of a post, or its whole URL, to ${baseUrl}, or use the versioned routes:`,
    routes.map(({ path, read }) => `- \`GET ${path}\`: ${allReads[read].summary}`).join('\n'),
    'Responses are Markdown unless the request has `format=json` or `Accept: application/json`. Take fields from the JSON; do not parse the Markdown. Send the `nextCursor` of a list as `cursor` to get the next page. Errors are problem documents: branch on `code`, follow `resolution`, and wait for the seconds in `Retry-After`.',
    '## Descriptions for programs',
    descriptions.join('\n'),
    '## Documentation',
    [
      ...pages().map(
        ({ name, title, summary }) =>
          `- [${title}](${baseUrl}${discoveryPaths.docs}/${name}): ${summary}`,
      ),
      ...(hasAskPage ? [`- [Ask](${baseUrl}${askPath}): ${askText}`] : []),
    ].join('\n'),
  ];
  return `${blocks.join('\n\n')}\n`;
}

const developerPages: ReadonlySet<string> = new Set(['architecture', 'development']);

function writeLlmsFullText({ baseUrl, pages }: DiscoveryFacts): string {
  const written = pages()
    .filter(({ name }) => !isApiPage(name) && !developerPages.has(name))
    .map(({ name, title, read }) => {
      const body = read()
        .replace(/^# .+$/m, '')
        .trim();
      return `# ${title}\n\n<${baseUrl}${discoveryPaths.docs}/${name}>\n\n${body}\n`;
    });
  return written.join('\n');
}

const askText =
  'Answers the question in `q` from these pages; as Markdown with `Accept: text/markdown`';

const titles = {
  [discoveryPaths.openApi]: 'OpenAPI description',
  [discoveryPaths.llmsFull]: 'All documentation as one text',
  [discoveryPaths.apiIndex]: 'Short description',
  [discoveryPaths.serverCard]: 'MCP server card',
  [discoveryPaths.apiCatalog]: 'API catalog',
  [discoveryPaths.ard]: 'ARD manifest',
};
