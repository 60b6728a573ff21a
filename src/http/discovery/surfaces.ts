import type { Endpoint, EndpointTag } from '../../core/endpoint.ts';
import type { Route } from '../reads/routes.ts';
import { discoveryPaths } from './discovery-facts.ts';
import { serverCardType } from './server-card.ts';

type SurfaceName = Route['surface'] | Exclude<EndpointTag, 'operator'>;

export const surfaces = {
  v1: 'The machine surface. Breaking changes ship only under a new prefix.',
  permalink: 'The paths of the original platform: unversioned, stable and not deprecated.',
  mcp: 'The same reads as tools of the Model Context Protocol.',
  sessions: 'Conversations about the documentation, as events.',
  discovery: 'Documents that tell programs what there is.',
  pages: 'Pages for people; as Markdown to programs that ask for it.',
  health: 'Whether the process answers and takes work.',
  alias: 'Deprecated aliases: they answer as before and name their successors.',
} as const satisfies Record<SurfaceName, string>;

export interface MachineSurface {
  readonly name: SurfaceName;
  readonly title: string;
  /** Path of the surface as a whole; it answers 200, or speaks its own protocol. */
  readonly anchor: string;
  readonly description: {
    readonly path: string;
    readonly mediaType: string;
    /** The most specific media type of such documents. */
    readonly artifactType: string;
  };
  readonly documentation: string;
  readonly identifier: string;
  readonly tags: readonly string[];
  /** Two to five questions that it can answer (ARD §4.2). */
  readonly queries: readonly string[];
}

const openApi = {
  path: discoveryPaths.openApi,
  mediaType: 'application/json',
  artifactType: 'application/vnd.oai.openapi+json',
} as const;

const machineSurfaces: readonly MachineSurface[] = [
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
];

/** Returns the machine surfaces that are served: those of the reads, and those that have endpoints. */
export function listMachineSurfaces(endpoints: readonly Endpoint[]): readonly MachineSurface[] {
  const served = new Set<string>(['v1', 'permalink', ...endpoints.map(({ tag }) => tag)]);
  return machineSurfaces.filter(({ name }) => served.has(name));
}
