import { z } from 'zod';
import { type DiscoveryFacts, discoveryPaths } from './discovery-facts.ts';
import { listMachineSurfaces, type MachineSurface, surfaces } from './surfaces.ts';

/** An entry of the manifest: one surface (ARD §4.2). */
const ardEntry = z
  .object({
    identifier: z.string().describe('`urn:air:{publisher}:{namespace}:{name}`.'),
    displayName: z.string(),
    type: z.string().describe('The media type that says what `url` leads to.'),
    url: z.url().describe('The document that describes the surface.'),
    description: z.string(),
    tags: z.array(z.string()).readonly(),
    representativeQueries: z
      .array(z.string())
      .readonly()
      .describe('Two to five questions that the surface can answer.'),
    version: z.string(),
    metadata: z.object({
      surface: z.string().describe('Its name in `/api`.'),
      endpoint: z.url().describe('What stands for the surface as a whole.'),
      documentation: z.url(),
    }),
  })
  .meta({ id: 'ArdEntry' });

/** The document of `/.well-known/ard.json` (Agentic Resource Discovery v0.91). */
export const ardManifest = z
  .object({
    specVersion: z.literal('1.0'),
    host: z.object({ displayName: z.string(), documentationUrl: z.url() }),
    entries: z.array(ardEntry).readonly(),
  })
  .meta({ id: 'ArdManifest' });

export function describeArd(facts: DiscoveryFacts): z.output<typeof ardManifest> {
  return {
    specVersion: '1.0',
    host: { displayName: 'Perch', documentationUrl: `${facts.baseUrl}${discoveryPaths.docs}` },
    entries: listMachineSurfaces(facts.endpoints).map((surface) => describeEntry(surface, facts)),
  };
}

function describeEntry(surface: MachineSurface, { baseUrl, version }: DiscoveryFacts) {
  const { path, artifactType } = surface.description;
  return {
    identifier: `urn:air:${toPublisher(baseUrl)}:${surface.identifier}`,
    displayName: surface.title,
    type: artifactType,
    url: `${baseUrl}${path}`,
    description: surfaces[surface.name],
    tags: surface.tags,
    representativeQueries: surface.queries,
    version,
    metadata: {
      surface: surface.name,
      endpoint: `${baseUrl}${surface.anchor}`,
      documentation: `${baseUrl}${surface.documentation}`,
    },
  };
}

/** The host of the base URL. An IPv6 address is no name: its colons would part the identifier. */
function toPublisher(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  return hostname.startsWith('[') ? hostname.slice(1, -1).replaceAll(':', '-') : hostname;
}
