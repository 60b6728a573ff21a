import { z } from 'zod';
import type { DiscoveryFacts } from './discovery-facts.ts';
import { discoveryPaths } from './discovery-links.ts';
import { listMachineSurfaces, type MachineSurface } from './surfaces.ts';

/** A target with its attributes (RFC 9264 §4.2.3). */
const linkTarget = z
  .object({ href: z.url(), type: z.string(), title: z.string() })
  .partial({ type: true })
  .meta({ id: 'LinkTarget' });

/** The target of one link, by its relation: a list even where it is one (RFC 9264 §4.2.2). */
const targets = z.array(linkTarget).readonly();

/** The links of one context (RFC 9264 §4.2.2); the relations are those of RFC 8631 and RFC 9727. */
const linkContext = z
  .object({
    anchor: z.url(),
    item: targets,
    'service-desc': targets,
    'service-doc': targets,
    'service-meta': targets,
    status: targets,
  })
  .partial({
    item: true,
    'service-desc': true,
    'service-doc': true,
    'service-meta': true,
    status: true,
  })
  .meta({ id: 'LinkContext' });

/** The document of `/.well-known/api-catalog` (RFC 9727, in the JSON form of RFC 9264). */
export const apiCatalog = z
  .object({ linkset: z.array(linkContext).readonly() })
  .meta({ id: 'ApiCatalog' });

/** Gives the catalog: its items, then what describes each of them. */
export function describeApiCatalog({
  baseUrl,
  endpoints,
}: DiscoveryFacts): z.output<typeof apiCatalog> {
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
  const to = (target: string, type: string, name: string) => [
    { href: `${baseUrl}${target}`, type, title: name },
  ];
  return {
    anchor: `${baseUrl}${anchor}`,
    'service-desc': to(path, mediaType, `${title}: description for programs`),
    'service-doc': [
      ...to(documentation, 'text/html', `${title}: documentation`),
      ...to(discoveryPaths.llms, 'text/plain', 'Overview for language models'),
    ],
    'service-meta': to(discoveryPaths.ard, 'application/json', 'ARD manifest'),
    status: to(discoveryPaths.readiness, 'application/json', 'Readiness'),
  };
}

/**
 * Gives the value of the catalog's own `Link` header: that it is one, and what is in it (RFC 9727 §2
 * demands it of HEAD).
 */
export function toCatalogLink(facts: DiscoveryFacts): string {
  const { linkset } = describeApiCatalog(facts);
  const items = linkset.flatMap(({ item = [] }) => item);
  return [
    `<${facts.baseUrl}${discoveryPaths.apiCatalog}>; rel="api-catalog"; type="application/linkset+json"`,
    ...items.map(({ href }) => `<${href}>; rel="item"`),
  ].join(', ');
}
