import { z } from 'zod';
import { type DiscoveryFacts, discoveryPaths } from './discovery-facts.ts';

export const serverCardType = 'application/mcp-server-card+json';

/** The document of `/mcp/server-card` (SEP-2127). `$schema` is left out, as tools would take it for a keyword. */
export const serverCard = z
  .looseObject({
    name: z.string().describe('The base URL’s host in reverse, a slash, and the server’s name.'),
    version: z.string(),
    title: z.string(),
    description: z.string(),
    websiteUrl: z.url(),
    remotes: z.array(z.object({ type: z.literal('streamable-http'), url: z.url() })).readonly(),
  })
  .meta({ id: 'McpServerCard' });

/** Describes the MCP server to a client that is about to connect. The protocol itself lists the tools. */
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

/** Returns the host in reverse-DNS notation. An IP address stays as it is. */
function toNamespace({ hostname }: URL): string {
  const isAddress = /^\[|^[\d.]+$/.test(hostname);
  if (isAddress) return hostname.replaceAll(/[[\]]/g, '').replaceAll(':', '-');
  return hostname.split('.').reverse().join('.');
}
