import { z } from 'zod';
import type { DiscoveryFacts } from './discovery-facts.ts';
import { mcpPath } from './surfaces.ts';

/**
 * The document of `/mcp/server-card` (SEP-2127, first version of its schema). Its member `$schema` is not
 * described: tools that read descriptions take that name for a keyword.
 */
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

/** Gives what a client of the MCP server should know before it connects. Tools are listed by the protocol. */
export function describeServerCard({
  baseUrl,
  version,
}: DiscoveryFacts): z.output<typeof serverCard> {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: toServerName(baseUrl),
    version,
    title: 'Perch',
    description: 'Reads public social posts, profiles, followers and searches. No sign-in.',
    websiteUrl: `${baseUrl}/`,
    remotes: [{ type: 'streamable-http', url: `${baseUrl}${mcpPath}` }],
  };
}

/** The reverse-DNS name comes from the base URL's host. An address stays as it is. */
function toServerName(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  const isAddress = /^\[|^[\d.]+$/.test(hostname);
  const name = isAddress
    ? hostname.replaceAll(/[[\]]/g, '').replaceAll(':', '-')
    : hostname.split('.').reverse().join('.');
  return `${name}/perch`;
}
