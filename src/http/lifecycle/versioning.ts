import { lifecycleState, toHeaderDates, toIsoDates } from '../../core/lifecycle.ts';
import { type AliasRoute, aliasRoutes, findVersioned } from '../reads/routes.ts';
import { toPolicyUrl } from './lifecycle.ts';

const major = 'v1';

/** Describes `x-api-lifecycle`. A replacement is a `successor`, or a `successor_parameter` with `successors`. */
export function describeLifecycle(baseUrl: string) {
  return {
    current_major_version: major,
    supported_versions: [major],
    minimum_support_window_months: 12,
    deprecation_signals: ['Deprecation', 'Sunset', 'Link'],
    deprecation_policy_url: toPolicyUrl(baseUrl),
    deprecated_operations: aliasRoutes.map(describeOperation),
  };
}

function describeOperation(route: AliasRoute) {
  const { deprecation: deprecated, sunset } = toIsoDates(route.lifecycle);
  return {
    operationId: route.id,
    path: route.path,
    deprecated,
    sunset,
    ...describeReplacement(route),
  };
}

/** Describes `versioning` of `/api`: the same with header values, and the states at an instant. */
export function describeVersioning(baseUrl: string, nowMs: number) {
  return {
    current: major,
    base_path: `/api/${major}`,
    policy_url: toPolicyUrl(baseUrl),
    deprecated_aliases: aliasRoutes.map((route) => describeAlias(route, nowMs)),
  };
}

function describeAlias(route: AliasRoute, nowMs: number) {
  const { deprecation, sunset } = toHeaderDates(route.lifecycle);
  const iso = toIsoDates(route.lifecycle);
  return {
    path: route.path,
    deprecation,
    sunset,
    deprecation_iso: iso.deprecation,
    sunset_iso: iso.sunset,
    state: lifecycleState(route.lifecycle, nowMs),
    ...describeReplacement(route),
  };
}

/** One path, or a path for each value of the parameter that names the read. */
function describeReplacement({ read }: AliasRoute) {
  if (typeof read === 'string') return { successor: findVersioned(read).path };
  const paths = Object.entries(read.reads).map(
    ([value, id]) => [value, findVersioned(id).path] as const,
  );
  return { successor_parameter: read.parameter, successors: Object.fromEntries(paths) };
}
