import type { OpenApiFacts } from '../openapi/document.ts';
import type { LibraryPage } from '../pages/docs/library.ts';

export interface DiscoveryFacts extends Omit<OpenApiFacts, 'nowMs' | 'examples'> {
  readonly contacts: { readonly keys: string; readonly security: string };
  /** Returns the pages of the documentation in reading order. Called when a document is made. */
  pages(): readonly Pick<LibraryPage, 'name' | 'title' | 'summary'>[];
}

export const discoveryPaths = {
  apiIndex: '/api',
  openApi: '/openapi.json',
  docs: '/docs',
  apiCatalog: '/.well-known/api-catalog',
  ard: '/.well-known/ard.json',
  aiCatalog: '/.well-known/ai-catalog.json',
  mcp: '/mcp',
  /** The place that SEP-2127 reserves below the endpoint. */
  serverCard: '/mcp/server-card',
  llms: '/llms.txt',
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

/** Returns the `Link` header of `/api` and of the front page (RFC 8288; relations of RFC 8631, RFC 9727, ARD §5.1). */
export function toDiscoveryLink(baseUrl: string): string {
  return links
    .map(([relation, path, type]) => `<${baseUrl}${path}>; rel="${relation}"; type="${type}"`)
    .join(', ');
}
