import * as z from 'zod';
import type { OpenApiFacts } from '../openapi/document.ts';
import type { LibraryPage } from '../pages/docs/library.ts';
import type { Route } from '../reads/routes.ts';
import type { Endpoint, EndpointTag } from '../route.ts';

export interface DiscoveryFacts extends Omit<OpenApiFacts, 'nowMs' | 'examples'> {
  /** Whether link-preview crawlers get an HTML page with Open Graph tags for post URLs. */
  readonly linkPreviews: boolean;
  /** Contact URIs at which people can request an API key or report a vulnerability. */
  readonly contacts: { readonly keys: string; readonly security: string };
  pages(): readonly Pick<LibraryPage, 'name' | 'title' | 'summary' | 'read'>[];
}

export const discoveryPaths = {
  apiIndex: '/api',
  openApi: '/openapi.json',
  docs: '/docs',
  apiCatalog: '/.well-known/api-catalog',
  ard: '/.well-known/ard.json',
  aiCatalog: '/.well-known/ai-catalog.json',
  mcp: '/mcp',
  /** Path of the MCP server card, which the MCP proposal SEP-2127 reserves. */
  serverCard: '/mcp/server-card',
  llms: '/llms.txt',
  llmsFull: '/llms-full.txt',
  robots: '/robots.txt',
  security: '/.well-known/security.txt',
  readiness: '/health/ready',
} as const;

const links = [
  ['service-desc', discoveryPaths.openApi, 'application/json'],
  ['service-doc', discoveryPaths.docs, 'text/html'],
  ['status', discoveryPaths.readiness, 'application/json'],
  ['api-catalog', discoveryPaths.apiCatalog, 'application/linkset+json'],
  ['ard', discoveryPaths.ard, 'application/json'],
  ['describedby', discoveryPaths.llms, 'text/plain'],
] as const;

/** Returns the `Link` header of `/api` and front page (RFC 8288, 8631, 9727; ARD §5.1). */
export function toDiscoveryLink(baseUrl: string): string {
  return links
    .map(([relation, path, type]) => `<${baseUrl}${path}>; rel="${relation}"; type="${type}"`)
    .join(', ');
}

type SurfaceName = Route['surface'] | Exclude<EndpointTag, 'operator'>;

export const surfaces = {
  v1: 'The versioned API. Breaking changes ship only under a new prefix.',
  permalink: 'The paths of the original platforms: unversioned, stable and not deprecated.',
  mcp: 'The same reads as tools of the Model Context Protocol.',
  sessions: 'Conversations about the documentation, as streams of events.',
  discovery: 'Documents that describe the service to programs.',
  pages: 'Pages for people, also available as Markdown.',
  media: 'Pictures of posts, and the media files of imported archives.',
  health: 'Liveness and readiness of the process.',
  alias: 'Deprecated aliases: they still work and name their successors.',
} as const satisfies Record<SurfaceName, string>;

/** Media type of an MCP server card (MCP proposal SEP-2127). */
export const serverCardType = 'application/mcp-server-card+json';

const openApi = {
  path: discoveryPaths.openApi,
  mediaType: 'application/json',
  artifactType: 'application/vnd.oai.openapi+json',
} as const;

const machineSurfaces = [
  {
    name: 'v1',
    title: 'Perch read API',
    anchor: discoveryPaths.apiIndex,
    description: openApi,
    documentation: '/docs/start',
    identifier: 'api:v1',
    tags: ['social media', 'posts', 'profiles', 'search', 'markdown', 'rest'],
    queries: [
      'read a public post on X with its thread as Markdown',
      'get the newest posts of an account as JSON',
      'who follows this account',
      'search public posts for a phrase',
      'get the oEmbed document of a post',
    ],
  },
  {
    name: 'permalink',
    title: 'Perch permalinks',
    anchor: '/',
    description: openApi,
    documentation: '/docs/posts',
    identifier: 'api:permalinks',
    tags: ['social media', 'posts', 'permalink', 'markdown'],
    queries: [
      'turn the link of a post into Markdown by changing its host',
      'read a thread without an account',
      'open the profile of a handle as text',
    ],
  },
  {
    name: 'mcp',
    title: 'Perch MCP server',
    anchor: discoveryPaths.mcp,
    description: {
      path: discoveryPaths.serverCard,
      mediaType: serverCardType,
      artifactType: serverCardType,
    },
    documentation: '/docs/mcp',
    identifier: 'mcp:perch',
    tags: ['social media', 'posts', 'profiles', 'search', 'mcp'],
    queries: [
      'give my assistant a tool that reads public posts',
      'let an agent search posts and profiles over MCP',
      'connect an MCP server that needs no sign-in',
    ],
  },
] as const;

type MachineSurface = (typeof machineSurfaces)[number];

function listMachineSurfaces(endpoints: readonly Endpoint[]): readonly MachineSurface[] {
  const served = new Set<string>(['v1', 'permalink', ...endpoints.map(({ tag }) => tag)]);
  return machineSurfaces.filter(({ name }) => served.has(name));
}

const linkTarget = z
  .object({ href: z.url(), type: z.string().optional(), title: z.string() })
  .meta({ id: 'LinkTarget' });

const targets = z.array(linkTarget).readonly();
const texts = z.array(z.string()).readonly();

/** Schema of links (RFC 9264 §4.2.2), keyed by link relation (RFC 8631, RFC 9727). */
const linkContext = z
  .object({
    anchor: z.url(),
    item: targets.optional(),
    'service-desc': targets.optional(),
    'service-doc': targets.optional(),
    'service-meta': targets.optional(),
    status: targets.optional(),
  })
  .meta({ id: 'LinkContext' });

/** Schema of the document `/.well-known/api-catalog` (RFC 9727, in the JSON form of RFC 9264). */
export const apiCatalog = z
  .object({ linkset: z.array(linkContext).readonly() })
  .meta({ id: 'ApiCatalog' });

/** Creates the API catalog (RFC 9727): a list of the APIs, then the links of each API. */
export function describeApiCatalog({ baseUrl, endpoints }: DiscoveryFacts) {
  const served = listMachineSurfaces(endpoints);
  const items = served.map(({ anchor, title }) => ({ href: `${baseUrl}${anchor}`, title }));
  return {
    linkset: [
      { anchor: `${baseUrl}${discoveryPaths.apiCatalog}`, item: items },
      ...served.map((surface) => linkSurface(surface, baseUrl)),
    ],
  };
}

function linkSurface(surface: MachineSurface, baseUrl: string) {
  const { anchor, description, documentation, title: name } = surface;
  const link = (to: string, type: string, title: string) => {
    return { href: `${baseUrl}${to}`, type, title };
  };
  return {
    anchor: `${baseUrl}${anchor}`,
    'service-desc': [
      link(description.path, description.mediaType, `${name}: description for programs`),
    ],
    'service-doc': [
      link(documentation, 'text/html', `${name}: documentation`),
      link(discoveryPaths.llms, 'text/plain', 'Overview for language models'),
      link(discoveryPaths.llmsFull, 'text/plain', 'All documentation as one text'),
    ],
    'service-meta': [link(discoveryPaths.ard, 'application/json', 'ARD manifest')],
    status: [link(discoveryPaths.readiness, 'application/json', 'Readiness')],
  };
}

/** Returns the `Link` header with links to the catalog and its APIs (RFC 9727 §2). */
export function toCatalogLink({ baseUrl, endpoints }: DiscoveryFacts): string {
  return [
    `<${baseUrl}${discoveryPaths.apiCatalog}>; rel="api-catalog"; type="application/linkset+json"`,
    ...listMachineSurfaces(endpoints).map(({ anchor }) => `<${baseUrl}${anchor}>; rel="item"`),
  ].join(', ');
}

const ardEntry = z
  .object({
    identifier: z.string().describe('URN of the API: `urn:air:{publisher}:{namespace}:{name}`.'),
    displayName: z.string(),
    type: z.string().describe('Media type of the document at `url`.'),
    url: z.url().describe('URL of the document that describes the API.'),
    description: z.string(),
    tags: texts,
    representativeQueries: texts.describe('Two to five sample questions that the API can answer.'),
    version: z.string(),
    metadata: z.object({
      surface: z
        .string()
        .describe('Name of the API in the member `surfaces` of the document `/api`.'),
      endpoint: z.url().describe('URL at which clients start to use the API.'),
      documentation: z.url(),
    }),
  })
  .meta({ id: 'ArdEntry' });

/** Schema of the document `/.well-known/ard.json` (Agentic Resource Discovery v0.91). */
export const ardManifest = z
  .object({
    specVersion: z.literal('1.0'),
    host: z.object({ displayName: z.string(), documentationUrl: z.url() }),
    entries: z.array(ardEntry).readonly(),
  })
  .meta({ id: 'ArdManifest' });

export function describeArd({ baseUrl, version, endpoints }: DiscoveryFacts) {
  return {
    specVersion: '1.0',
    host: { displayName: 'Perch', documentationUrl: `${baseUrl}${discoveryPaths.docs}` },
    entries: listMachineSurfaces(endpoints).map((surface) => ({
      identifier: `urn:air:${toPublisher(baseUrl)}:${surface.identifier}`,
      displayName: surface.title,
      type: surface.description.artifactType,
      url: `${baseUrl}${surface.description.path}`,
      description: surfaces[surface.name],
      tags: surface.tags,
      representativeQueries: surface.queries,
      version,
      metadata: {
        surface: surface.name,
        endpoint: `${baseUrl}${surface.anchor}`,
        documentation: `${baseUrl}${surface.documentation}`,
      },
    })),
  } satisfies z.output<typeof ardManifest>;
}

function toPublisher(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  return hostname.startsWith('[') ? hostname.slice(1, -1).replaceAll(':', '-') : hostname;
}

/** Schema of the MCP server card (MCP proposal SEP-2127). A card also contains `$schema`. */
export const serverCard = z
  .looseObject({
    name: z
      .string()
      .describe(
        'Host of the base URL in reverse-DNS notation, then `/perch`, such as `org.example/perch`.',
      ),
    version: z.string(),
    title: z.string(),
    description: z.string(),
    websiteUrl: z.url(),
    remotes: z.array(z.object({ type: z.literal('streamable-http'), url: z.url() })).readonly(),
  })
  .meta({ id: 'McpServerCard' });

/** Creates the MCP server card (SEP-2127) without tools, which the MCP endpoint lists. */
export function describeServerCard({ baseUrl, version }: DiscoveryFacts) {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: `${toNamespace(new URL(baseUrl))}/perch`,
    version,
    title: 'Perch',
    description: 'Reads public social posts, profiles, followers and searches. No sign-in.',
    websiteUrl: `${baseUrl}/`,
    remotes: [{ type: 'streamable-http', url: `${baseUrl}${discoveryPaths.mcp}` }],
  } satisfies z.output<typeof serverCard>;
}

function toNamespace({ hostname }: URL): string {
  const isAddress = /^\[|^[\d.]+$/.test(hostname);
  if (isAddress) return hostname.replaceAll(/[[\]]/g, '').replaceAll(':', '-');
  return hostname.split('.').reverse().join('.');
}
