import type { JsonSchema } from '../core/json-schema.ts';
import type { RecordedExamples } from './openapi-examples.ts';
import type { OpenApiFacts } from './openapi-facts.ts';
import { describeOperationLifecycle } from './openapi-lifecycle.ts';
import { describeParameters, type ParameterObject } from './openapi-parameters.ts';
import { listPolicies } from './openapi-rate-limits.ts';
import { describeResponses } from './openapi-responses.ts';
import { keyScheme } from './openapi-security.ts';
import {
  findVersioned,
  type HistoryRoute,
  isBrowseRoute,
  type ReadRoute,
  type Route,
  summarizeRoute,
} from './routes.ts';

/** Gives the path items of routes, by path. HEAD is what GET is without a body, so it has no operation. */
export function describePaths(routes: readonly Route[], facts: OpenApiFacts): JsonSchema {
  return Object.fromEntries(
    routes.map((route) => [route.path, { get: describeOperation(route, facts) }]),
  );
}

function describeOperation(route: Route, facts: OpenApiFacts): JsonSchema {
  return {
    operationId: route.id,
    summary: summarizeRoute(route),
    description: describeRoute(route),
    tags: [route.surface],
    ...describeOperationLifecycle(route, facts),
    parameters: describeParameters(route).map((one) => withExample(one, facts.examples)),
    ...(isBrowseRoute(route) ? { security: [{}, { [keyScheme]: [] }] } : {}),
    'x-rate-limit-policies': listPolicies(route),
    responses: describeResponses(route, facts),
  };
}

/** A value helps where the schema names none. */
function withExample(parameter: ParameterObject, { parameters }: RecordedExamples): JsonSchema {
  const { name, schema } = parameter;
  const isTold = schema.enum !== undefined || schema.default !== undefined;
  const isRecorded = Object.hasOwn(parameters, name) && !isTold;
  return { ...parameter, ...(isRecorded ? { example: parameters[name] } : {}) };
}

function describeRoute(route: Route): string {
  const key = isBrowseRoute(route)
    ? 'A bearer key is optional: it has a larger allowance and reads nothing more.'
    : 'It never looks at `Authorization`.';
  return [...describeSurface(route), describeFormat(route), key].join(' ');
}

function describeFormat({ read }: Route): string {
  if (read === 'importProfilePosts') {
    return 'The reply is JSON, or NDJSON where `format` or `Accept` asks for it: each line is an object with one member: `post` for each post as they come, and on the last line either `meta` or `error`, a problem document. HEAD reads nothing.';
  }
  return read === 'getOEmbed'
    ? 'The reply is JSON.'
    : 'The reply is Markdown unless `format` or `Accept` asks for JSON; `format` wins.';
}

/**
 * Names the other paths of a route. They have no operation of their own: as templates, `/profile/{handle}`
 * and `/{handle}/followers` could not be told apart.
 */
function listOtherPaths({ also = [] }: ReadRoute | HistoryRoute): readonly string[] {
  const paths = also.map(({ path, given = {} }) => {
    const fixed = Object.entries(given).map(([name, value]) => `\`${name}=${value}\``);
    return `\`${path}\`${fixed.length === 0 ? '' : ` (with ${fixed.join(' and ')})`}`;
  });
  return paths.length === 0 ? [] : [`It also answers at ${paths.join(', ')}.`];
}

/** Tells how a route stands to the row of v1 with the same read. */
function describeSurface(route: Route): readonly string[] {
  switch (route.surface) {
    case 'v1':
      return [];
    case 'permalink':
      return [
        `The body is that of \`${findVersioned(route.read).path}\`.`,
        ...listOtherPaths(route),
      ];
    case 'alias':
      return ['Answers as before and names its successor in `Link`. HEAD reads nothing.'];
  }
}
