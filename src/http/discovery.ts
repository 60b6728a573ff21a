import type { FastifyInstance } from 'fastify';
import type { Clock } from '../core/clock.ts';
import { describeApiCatalog, toCatalogLink } from './api-catalog.ts';
import { describeApi } from './api-description.ts';
import { toApiMarkdown } from './api-markdown.ts';
import { describeArd } from './ard.ts';
import type { DiscoveryFacts } from './discovery-facts.ts';
import { apiCatalogType, discoveryPaths, toDiscoveryLink } from './discovery-links.ts';
import { type DocumentForm, type FormedDocument, jsonMediaType, serveFormed } from './document.ts';
import { writeLlmsText } from './llms-text.ts';
import { negotiate, offers } from './negotiation.ts';
import { writeRobotsText } from './robots-text.ts';
import { nextSecurityText, writeSecurityText } from './security-text.ts';
import { describeServerCard } from './server-card.ts';
import { serverCardPath, serverCardType } from './surfaces.ts';

/** The context of the discovery documents. */
export interface DiscoveryOptions extends DiscoveryFacts {
  readonly clock: Clock;
}

/** Registers the documents that tell programs what there is, but `/openapi.json` (decisions section 7). */
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
