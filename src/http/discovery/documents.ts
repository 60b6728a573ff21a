import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Clock, toIsoSeconds } from '../../core/clock.ts';
import type { Endpoint } from '../../core/endpoint.ts';
import { allReads } from '../../reads/index.ts';
import { corsHeaders } from '../../web/cors.ts';
import { nothingOfItsOwn, sendPrepared } from '../../web/reply.ts';
import { describeOpenApi } from '../openapi/document.ts';
import { readExamples } from '../openapi/examples.ts';
import { listEndpointHeaders, notModified } from '../openapi/headers.ts';
import { askPath, prepareBody } from '../pages/layout.ts';
import { negotiate, offers } from '../reads/negotiation.ts';
import { previewProducts } from '../reads/preview-crawlers.ts';
import { historyRoutes, readRoutes } from '../reads/routes.ts';
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

interface DiscoveryDocument extends Pick<Endpoint, 'id' | 'path' | 'summary'> {
  /** Default: `application/json`, which clients look for rather than for a type such as OpenAPI's. */
  readonly mediaType?: string;
  readonly schema: z.ZodType | 'text';
  readonly write: (facts: DiscoveryFacts, nowMs: number) => unknown;
  readonly writeMarkdown?: (facts: DiscoveryFacts, nowMs: number) => string;
  readonly toLink?: (facts: DiscoveryFacts) => string;
}

/** The members that every OpenAPI document has (OpenAPI 3.1 §4.8.1). */
const openApiDocument = z.looseObject({
  openapi: z.string().describe('The version of OpenAPI.'),
  info: z.looseObject({ title: z.string(), version: z.string().describe('Of Perch.') }),
  paths: z.record(z.string(), z.looseObject({})),
});

const documents: readonly DiscoveryDocument[] = [
  {
    id: 'getApiIndex',
    path: discoveryPaths.apiIndex,
    summary: 'Describes the service in short: surfaces, routes, formats, limits, versioning.',
    schema: apiIndex,
    write: describeApi,
    writeMarkdown: (facts, nowMs) => toApiMarkdown(describeApi(facts, nowMs)),
    toLink: ({ baseUrl }) => toDiscoveryLink(baseUrl),
  },
  {
    id: 'getArdManifest',
    path: discoveryPaths.ard,
    summary: 'Lists every machine surface (Agentic Resource Discovery v0.91).',
    schema: ardManifest,
    write: describeArd,
  },
  {
    id: 'getAiCatalog',
    path: discoveryPaths.aiCatalog,
    summary: 'The same manifest at the path of the format’s predecessor.',
    schema: ardManifest,
    write: describeArd,
  },
  {
    id: 'getApiCatalog',
    path: discoveryPaths.apiCatalog,
    summary: 'Links each API to its description, documentation and status (RFC 9727).',
    // The profile makes it a catalog (RFC 9727 §4, RFC 9264 §4.2).
    mediaType: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    schema: apiCatalog,
    write: describeApiCatalog,
    toLink: toCatalogLink,
  },
  {
    id: 'getMcpServerCard',
    path: discoveryPaths.serverCard,
    summary: 'Tells an MCP client how to connect (SEP-2127).',
    mediaType: serverCardType,
    schema: serverCard,
    write: describeServerCard,
  },
  {
    id: 'getLlmsText',
    path: discoveryPaths.llms,
    summary: 'Introduces the service to language models, with links to every page.',
    ...plainText,
    write: writeLlmsText,
  },
  {
    id: 'getRobotsText',
    path: discoveryPaths.robots,
    summary: 'Tells crawlers what they may fetch (RFC 9309).',
    ...plainText,
    write: writeRobotsText,
  },
  {
    id: 'getSecurityText',
    path: discoveryPaths.security,
    summary: 'Tells where a weakness is reported (RFC 9116).',
    ...plainText,
    write: writeSecurityText,
  },
  {
    id: 'getOpenApi',
    path: discoveryPaths.openApi,
    summary: 'Describes every route, parameter and reply (OpenAPI 3.1).',
    schema: openApiDocument,
    write: (facts, nowMs) =>
      describeOpenApi({ ...facts, nowMs, examples: readExamples(facts.baseUrl) }),
  },
];

export const discoveryEndpoints: readonly Endpoint[] = documents.map(
  ({ id, path, summary, mediaType = json, schema, writeMarkdown, toLink }) => {
    const vary = { description: '`Accept` chooses between JSON and Markdown.' };
    const headers = {
      ...listEndpointHeaders(['ETag']),
      ...(toLink && { Link: { description: 'Where the other documents are (RFC 8288).' } }),
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

/** Serves each document, which is made at its first request of a day. */
export async function discoveryPlugin(
  app: FastifyInstance,
  { clock, ...facts }: DiscoveryFacts & { readonly clock: Clock },
): Promise<void> {
  for (const { path, mediaType = json, schema, write, writeMarkdown, toLink } of documents) {
    const headers = {
      ...corsHeaders,
      'cache-control': 'public, max-age=60',
      ...(toLink && { link: toLink(facts) }),
      ...(writeMarkdown && { vary: 'Accept' }),
    };
    const keepReply = (type: string, writeBody: DiscoveryDocument['write']) =>
      keepForTheDay((nowMs) => {
        const written = writeBody(facts, nowMs);
        const body = typeof written === 'string' ? written : JSON.stringify(written);
        return prepareBody(body, { ...headers, 'content-type': type });
      }, clock);
    const charset = mediaType === json || schema === 'text' ? '; charset=utf-8' : '';
    const usual = keepReply(`${mediaType}${charset}`, write);
    const markdown = writeMarkdown && keepReply('text/markdown; charset=utf-8', writeMarkdown);
    app.get(path, (request, reply) => {
      const isMarkdown = negotiate(request.headers.accept, offers.apiIndex) === 'markdown';
      const chosen = (isMarkdown && markdown) || usual;
      sendPrepared({ request, reply }, chosen(), nothingOfItsOwn);
    });
    app.methodTable.add(path, { allow: ['GET', 'HEAD'] });
  }
}

const dayMs = 86_400_000;

/** Returns a function that makes a value at its first call of each day in UTC: states of routes change at midnight. */
export function keepForTheDay<Value>(make: (nowMs: number) => Value, clock: Clock): () => Value {
  let kept: { readonly day: number; readonly value: Value } | undefined;
  return () => {
    const nowMs = clock.now();
    const day = Math.floor(nowMs / dayMs);
    if (kept?.day !== day) kept = { day, value: make(nowMs) };
    return kept.value;
  };
}

/**
 * Writes `/robots.txt` (RFC 9309): crawlers may fetch what describes the service. Reads and questions are refused:
 * they cost the sources a request or the server an answer.
 */
function writeRobotsText({ baseUrl, endpoints, linkPreviews }: DiscoveryFacts): string {
  const open = endpoints
    .filter(({ tag, method }) => method === 'GET' && (tag === 'discovery' || tag === 'pages'))
    .map(({ path }) => (path.includes('{') ? path.slice(0, path.indexOf('{')) : `${path}$`));
  const lines = [
    '# Pages and descriptions are open. Reads cost upstreams a request, so they are not for crawlers.',
    'User-agent: *',
    ...[...new Set(open)].map((pattern) => `Allow: ${pattern}`),
    ...(endpoints.some(({ path }) => path === askPath) ? [`Disallow: ${askPath}?`] : []),
    'Disallow: /',
    // Crawlers of link previews come for a post that somebody has just shared.
    ...(linkPreviews
      ? ['', ...previewProducts.map((name) => `User-agent: ${name}`), 'Allow: /', 'Disallow: /api/']
      : []),
    '',
    // A directive of ARD §5.1; RFC 9309 §2.2.4 lets others be.
    `Agentmap: ${baseUrl}${discoveryPaths.ard}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Writes `/.well-known/security.txt` (RFC 9116) for the day of an instant. */
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

/** Writes `/llms.txt` (llmstxt.org): a title, a summary in a quote, the reads, then sections of links. */
export function writeLlmsText({ baseUrl, endpoints, pages }: DiscoveryFacts): string {
  const routes = [...readRoutes, ...historyRoutes].filter(({ surface }) => surface === 'v1');
  const canBeAsked = endpoints.some(({ path }) => path === askPath);
  const descriptions = Object.entries(titles).flatMap(([path, title]) => {
    const served = endpoints.find((endpoint) => endpoint.path === path);
    return served === undefined ? [] : [`- [${title}](${baseUrl}${path}): ${served.summary}`];
  });
  const blocks = [
    '# Perch',
    '> Reads public social posts, profiles, followers and searches, and answers with Markdown or JSON. Nobody needs an account or a key, and nothing can be written.',
    `Put the path of a post, or its whole URL, behind ${baseUrl}, or ask the versioned routes:`,
    routes.map(({ path, read }) => `- \`GET ${path}\`: ${allReads[read].summary}`).join('\n'),
    'Replies are Markdown unless `format=json` or `Accept: application/json` asks for JSON. Take fields from the JSON and do not parse the Markdown. A list has `nextCursor`, which is the `cursor` of its next page. An error is a problem document: switch on `code`, do what `resolution` says, and wait as long as `Retry-After` says.',
    '## Descriptions for programs',
    descriptions.join('\n'),
    '## Documentation',
    [
      ...pages().map(
        ({ name, title, summary }) =>
          `- [${title}](${baseUrl}${discoveryPaths.docs}/${name}): ${summary}`,
      ),
      ...(canBeAsked ? [`- [Ask](${baseUrl}${askPath}): ${askText}`] : []),
    ].join('\n'),
  ];
  return `${blocks.join('\n\n')}\n`;
}

const askText =
  'A question as `q` is answered from these pages; as Markdown with `Accept: text/markdown`';

/** Titles of the documents that are worth a reader's time, the most telling first. */
const titles = {
  [discoveryPaths.openApi]: 'OpenAPI description',
  [discoveryPaths.apiIndex]: 'Short description',
  [discoveryPaths.serverCard]: 'Card of the MCP server',
  [discoveryPaths.apiCatalog]: 'API catalog',
  [discoveryPaths.ard]: 'ARD manifest',
};
