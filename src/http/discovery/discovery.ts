import type { FastifyInstance } from 'fastify';
import { type Clock, toIsoSeconds } from '../../core/clock.ts';
import type { Endpoint } from '../../core/endpoint.ts';
import { askPath } from '../pages/paths.ts';
import { negotiate, offers } from '../reads/negotiation.ts';
import { previewProducts } from '../reads/preview-crawlers.ts';
import { describeApiCatalog, toCatalogLink } from './api-catalog.ts';
import { describeApi } from './api-description.ts';
import { toApiMarkdown } from './api-markdown.ts';
import { describeArd } from './ard.ts';
import type { DiscoveryFacts } from './discovery-facts.ts';
import { apiCatalogType, discoveryPaths, toDiscoveryLink } from './discovery-links.ts';
import { type DocumentForm, type FormedDocument, jsonMediaType, serveFormed } from './document.ts';
import { writeLlmsText } from './llms-text.ts';
import { describeServerCard } from './server-card.ts';
import { serverCardPath, serverCardType } from './surfaces.ts';

/** The context of the discovery documents. */
export interface DiscoveryOptions extends DiscoveryFacts {
  readonly clock: Clock;
}

/** Registers the documents that tell programs what there is, but `/openapi.json`. */
export async function discoveryPlugin(
  app: FastifyInstance,
  { clock, ...facts }: DiscoveryOptions,
): Promise<void> {
  for (const document of listDocuments(facts)) serveFormed(app, { clock, ...document });
}

function listDocuments(facts: DiscoveryFacts): readonly Omit<FormedDocument, 'clock'>[] {
  const ard = json(() => describeArd(facts));
  const catalog = json(() => describeApiCatalog(facts));
  const card = json(() => describeServerCard(facts));
  return [
    describeIndex(facts),
    { url: discoveryPaths.ard, form: ard },
    { url: discoveryPaths.aiCatalog, form: ard },
    {
      url: discoveryPaths.apiCatalog,
      form: { ...catalog, mediaType: apiCatalogType },
      headers: { link: toCatalogLink(facts) },
    },
    { url: serverCardPath, form: { ...card, mediaType: serverCardType } },
    { url: discoveryPaths.llms, form: text(() => writeLlmsText(facts)) },
    { url: discoveryPaths.robots, form: text(() => writeRobotsText(facts)) },
    {
      url: discoveryPaths.security,
      form: text((nowMs) => writeSecurityText(facts, nowMs)),
      changesAt: nextSecurityText,
    },
  ];
}

/** `/api` is JSON to everybody but those who ask for Markdown: programs rely on it. */
function describeIndex(facts: DiscoveryFacts): Omit<FormedDocument, 'clock'> {
  return {
    url: discoveryPaths.apiIndex,
    form: json((nowMs) => describeApi(facts, nowMs)),
    otherForm: {
      mediaType: 'text/markdown; charset=utf-8',
      write: (nowMs) => toApiMarkdown(describeApi(facts, nowMs)),
      isAsked: (accept) => negotiate(accept, offers.apiIndex) === 'markdown',
    },
    headers: { link: toDiscoveryLink(facts.baseUrl) },
  };
}

function json(describe: (nowMs: number) => unknown): DocumentForm {
  return { mediaType: jsonMediaType, write: (nowMs) => JSON.stringify(describe(nowMs)) };
}

function text(write: (nowMs: number) => string): DocumentForm {
  return { mediaType: 'text/plain; charset=utf-8', write };
}

/**
 * Gives the document of `/robots.txt` (RFC 9309): crawlers may fetch what describes the service. Reads
 * are refused, because each of them can cost the sources a request, and their content is not ours; so
 * are questions, each of which costs an answer.
 */
function writeRobotsText({ baseUrl, endpoints, linkPreviews }: DiscoveryFacts): string {
  const lines = [
    '# Pages and descriptions are open. Reads cost upstreams a request, so they are not for crawlers.',
    'User-agent: *',
    ...toPatterns(endpoints).map((pattern) => `Allow: ${pattern}`),
    ...(endpoints.some(({ path }) => path === askPath) ? [`Disallow: ${askPath}?`] : []),
    'Disallow: /',
    ...(linkPreviews ? listPreviewRules() : []),
    '',
    // A directive of ARD §5.1; RFC 9309 §2.2.4 lets others be.
    `Agentmap: ${baseUrl}${discoveryPaths.ard}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Gives what the public documents are matched by; a parameter in a path stands for whatever follows. */
function toPatterns(endpoints: readonly Endpoint[]): readonly string[] {
  const open = endpoints.filter(
    ({ tag, method }) => method === 'GET' && (tag === 'discovery' || tag === 'pages'),
  );
  const patterns = open.map(({ path }) => {
    const [fixed = ''] = path.split('{', 1);
    return fixed === path ? `${path}$` : fixed;
  });
  return [...new Set(patterns)];
}

/** Crawlers of link previews come for the post that somebody has just shared. */
function listPreviewRules(): readonly string[] {
  return [
    '',
    ...previewProducts.map((name) => `User-agent: ${name}`),
    'Allow: /',
    'Disallow: /api/',
  ];
}

const dayMs = 86_400_000;

/** Days that the document can be relied on; RFC 9116 §2.5.5 recommends less than a year. */
const validDays = 90;

/** Gives the document of `/.well-known/security.txt` (RFC 9116) as it is on the day of an instant. */
function writeSecurityText({ baseUrl, contacts }: DiscoveryFacts, nowMs: number): string {
  const today = nowMs - (nowMs % dayMs);
  const lines = [
    `Contact: ${contacts.security}`,
    `Expires: ${toIsoSeconds(today + validDays * dayMs)}`,
    'Preferred-Languages: en',
    `Canonical: ${baseUrl}${discoveryPaths.security}`,
    `Policy: ${baseUrl}${discoveryPaths.docs}/security`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Gives the next instant at which the document changes: the end of the day in UTC. */
function nextSecurityText(nowMs: number): number {
  return nowMs - (nowMs % dayMs) + dayMs;
}
