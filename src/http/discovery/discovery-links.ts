import { serverCardPath } from './surfaces.ts';

/** Where the documents are that other documents and the `Link` header name. */
export const discoveryPaths = {
  apiIndex: '/api',
  openApi: '/openapi.json',
  docs: '/docs',
  apiCatalog: '/.well-known/api-catalog',
  ard: '/.well-known/ard.json',
  aiCatalog: '/.well-known/ai-catalog.json',
  llms: '/llms.txt',
  robots: '/robots.txt',
  security: '/.well-known/security.txt',
  readiness: '/health/ready',
} as const;

/** What people call the documents that are worth a reader's time. */
export const discoveryTitles: Readonly<Record<string, string>> = {
  [discoveryPaths.openApi]: 'OpenAPI description',
  [discoveryPaths.apiIndex]: 'Short description',
  [serverCardPath]: 'Card of the MCP server',
  [discoveryPaths.apiCatalog]: 'API catalog',
  [discoveryPaths.ard]: 'ARD manifest',
};

/** The media type of an API catalog, with the profile that makes it one (RFC 9727 §4, RFC 9264 §4.2). */
export const apiCatalogType =
  'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

const links = [
  ['service-desc', discoveryPaths.openApi, 'application/json'],
  ['service-doc', discoveryPaths.docs, 'text/html'],
  ['status', discoveryPaths.readiness, 'application/json'],
  ['api-catalog', discoveryPaths.apiCatalog, 'application/linkset+json'],
  ['ard', discoveryPaths.ard, 'application/json'],
  ['describedby', discoveryPaths.llms, 'text/plain'],
] as const;

/**
 * Gives the value of the `Link` header of `/api` and of the front page: where a program that knows
 * only this address finds the rest (RFC 8288; relations of RFC 8631, RFC 9727 and ARD §5.1).
 *
 * @param baseUrl Perch's own address, without a trailing slash.
 */
export function toDiscoveryLink(baseUrl: string): string {
  return links
    .map(([relation, path, type]) => `<${baseUrl}${path}>; rel="${relation}"; type="${type}"`)
    .join(', ');
}
