import { z } from 'zod';
import { type DiscoveryFacts, discoveryPaths } from './discovery-facts.ts';
import { listMachineSurfaces, type MachineSurface } from './surfaces.ts';

/** A target with its attributes (RFC 9264 §4.2.3). */
const linkTarget = z
  .object({ href: z.url(), type: z.string().optional(), title: z.string() })
  .meta({ id: 'LinkTarget' });

const targets = z.array(linkTarget).readonly();

/** The links of one context (RFC 9264 §4.2.2); the relations are those of RFC 8631 and RFC 9727. */
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

/** The document of `/.well-known/api-catalog` (RFC 9727, in the JSON form of RFC 9264). */
export const apiCatalog = z
  .object({ linkset: z.array(linkContext).readonly() })
  .meta({ id: 'ApiCatalog' });

/** Lists the APIs, then the links of each of them. */
export function describeApiCatalog({ baseUrl, endpoints }: DiscoveryFacts) {
  const served = listMachineSurfaces(endpoints);
  const items = served.map(({ anchor, title }) => ({ href: `${baseUrl}${anchor}`, title }));
  return {
    linkset: [
      { anchor: `${baseUrl}${discoveryPaths.apiCatalog}`, item: items },
      ...served.map((surface) => describeSurface(surface, baseUrl)),
    ],
  };
}

function describeSurface(
  { anchor, description, documentation, title }: MachineSurface,
  baseUrl: string,
) {
  const { path, mediaType } = description;
  const link = (to: string, type: string, name: string) => {
    return { href: `${baseUrl}${to}`, type, title: name };
  };
  return {
    anchor: `${baseUrl}${anchor}`,
    'service-desc': [link(path, mediaType, `${title}: description for programs`)],
    'service-doc': [
      link(documentation, 'text/html', `${title}: documentation`),
      link(discoveryPaths.llms, 'text/plain', 'Overview for language models'),
    ],
    'service-meta': [link(discoveryPaths.ard, 'application/json', 'ARD manifest')],
    status: [link(discoveryPaths.readiness, 'application/json', 'Readiness')],
  };
}

/** Returns the catalog's own `Link` header: itself and its items (RFC 9727 §2 demands it of HEAD). */
export function toCatalogLink({ baseUrl, endpoints }: DiscoveryFacts): string {
  return [
    `<${baseUrl}${discoveryPaths.apiCatalog}>; rel="api-catalog"; type="application/linkset+json"`,
    ...listMachineSurfaces(endpoints).map(({ anchor }) => `<${baseUrl}${anchor}>; rel="item"`),
  ].join(', ');
}
