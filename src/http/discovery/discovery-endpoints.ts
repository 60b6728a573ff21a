import type { Endpoint, EndpointReply } from '../../core/endpoint.ts';
import { apiCatalog } from './api-catalog.ts';
import { apiIndex } from './api-description-schema.ts';
import { ardManifest } from './ard.ts';
import { apiCatalogType, discoveryPaths } from './discovery-links.ts';
import { documentReplies } from './document.ts';
import { serverCard } from './server-card.ts';
import { serverCardPath, serverCardType } from './surfaces.ts';

type Content = NonNullable<EndpointReply['content']>;
type Described = Pick<Endpoint, 'id' | 'path' | 'summary'>;

const link = { Link: { description: 'Where the other documents are (RFC 8288).' } };

/** The routes of the discovery documents but `/openapi.json`, as the descriptions tell of them. */
export const discoveryEndpoints: readonly Endpoint[] = [
  describe(
    {
      id: 'getApiIndex',
      path: discoveryPaths.apiIndex,
      summary: 'Describes the service in short: surfaces, routes, formats, limits, versioning.',
    },
    { 'application/json': apiIndex, 'text/markdown': 'text' },
    { ...link, Vary: { description: '`Accept` chooses between JSON and Markdown.' } },
  ),
  describe(
    {
      id: 'getArdManifest',
      path: discoveryPaths.ard,
      summary: 'Lists every machine surface (Agentic Resource Discovery v0.91).',
    },
    { 'application/json': ardManifest },
  ),
  describe(
    {
      id: 'getAiCatalog',
      path: discoveryPaths.aiCatalog,
      summary: 'The same manifest at the path of the format’s predecessor.',
    },
    { 'application/json': ardManifest },
  ),
  describe(
    {
      id: 'getApiCatalog',
      path: discoveryPaths.apiCatalog,
      summary: 'Links each API to its description, documentation and status (RFC 9727).',
    },
    { [apiCatalogType]: apiCatalog },
    link,
  ),
  describe(
    {
      id: 'getMcpServerCard',
      path: serverCardPath,
      summary: 'Tells an MCP client how to connect (SEP-2127).',
    },
    { [serverCardType]: serverCard },
  ),
  describe(
    {
      id: 'getLlmsText',
      path: discoveryPaths.llms,
      summary: 'Introduces the service to language models, with links to every page.',
    },
    { 'text/plain': 'text' },
  ),
  describe(
    {
      id: 'getRobotsText',
      path: discoveryPaths.robots,
      summary: 'Tells crawlers what they may fetch (RFC 9309).',
    },
    { 'text/plain': 'text' },
  ),
  describe(
    {
      id: 'getSecurityText',
      path: discoveryPaths.security,
      summary: 'Tells where a weakness is reported (RFC 9116).',
    },
    { 'text/plain': 'text' },
  ),
];

function describe(
  described: Described,
  content: Content,
  headers: NonNullable<EndpointReply['headers']> = {},
): Endpoint {
  return {
    ...described,
    method: 'GET',
    tag: 'discovery',
    replies: documentReplies(content, headers),
    problems: [],
    access: 'open',
  };
}
