import { reads } from '../reads/index.ts';
import { toPolicyUrl } from './lifecycle.ts';
import { type AliasRoute, type Route, routes } from './routes.ts';
import { describeVersioning } from './versioning.ts';

/** What the description of the service is made of, beside the tables. */
export interface ApiFacts {
  /** Perch's own address, without a trailing slash. */
  readonly baseUrl: string;
  /** The version of Perch. */
  readonly version: string;
  readonly nowMs: number;
}

/** What each surface of the route table is for. */
const surfaces = {
  v1: 'The machine surface. Breaking changes ship only under a new prefix.',
  permalink: 'The paths of the original platform: unversioned, stable and not deprecated.',
  alias: 'Deprecated aliases: they answer as before and name their successors.',
} as const satisfies Record<Route['surface'], string>;

/** Gives the machine-readable description of the service: the document of `/api`. */
export function describeApi({ baseUrl, version, nowMs }: ApiFacts) {
  return {
    name: 'Perch',
    version,
    description:
      'Reads public social posts, profiles, followers and searches. Replies are Markdown, or JSON with `format=json` or `Accept: application/json`.',
    base_url: baseUrl,
    documentation: { errors: `${baseUrl}/docs/errors`, versioning: toPolicyUrl(baseUrl) },
    surfaces: Object.entries(surfaces).map(([name, description]) => ({
      name,
      description,
      routes: routes.filter(({ surface }) => surface === name).map(describeRoute),
    })),
    versioning: describeVersioning(baseUrl, nowMs),
  };
}

function describeRoute(route: Route) {
  return {
    operation_id: route.id,
    method: 'GET',
    path: route.path,
    summary: summarize(route),
    parameters: listParameters(route),
    ...(route.lifecycle === null ? {} : { deprecated: true }),
  };
}

function summarize({ read }: Route): string {
  return typeof read === 'string'
    ? reads[read].summary
    : `Reads what the parameter \`${read.parameter}\` names.`;
}

/** Names the parameters, those of the path first. */
function listParameters(route: Route): readonly string[] {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const inQuery = route.surface === 'alias' ? listAliasParameters(route) : namesOf(route.read);
  // A path that names the post is not overruled by `url`.
  const others = inPath.includes('id') ? inQuery.filter((name) => name !== 'url') : inQuery;
  return [...new Set([...inPath, ...others])];
}

function listAliasParameters({ read }: AliasRoute): readonly string[] {
  if (typeof read === 'string') return namesOf(read);
  return [read.parameter, ...Object.values(read.reads).flatMap(namesOf)];
}

function namesOf(read: keyof typeof reads): readonly string[] {
  return Object.keys(reads[read].params.shape);
}
