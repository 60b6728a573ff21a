import type { JsonSchema } from '../core/json-schema.ts';
import { lifecycleState } from '../core/lifecycle.ts';
import type { OpenApiFacts } from './openapi-facts.ts';
import type { Route } from './routes.ts';
import { describeLifecycle } from './versioning.ts';

/**
 * Gives what an operation says of its lifecycle: `deprecated` and its successor, as one path or as a
 * path for each value of a parameter (spec: Lifecycle object), and its state where a moment is given.
 */
export function describeOperationLifecycle(
  route: Route,
  { baseUrl, nowMs }: Pick<OpenApiFacts, 'baseUrl' | 'nowMs'>,
): JsonSchema {
  return {
    ...(route.lifecycle === null ? {} : { deprecated: true }),
    ...(nowMs === null ? {} : { 'x-lifecycle-state': lifecycleState(route.lifecycle, nowMs) }),
    ...describeSuccessor(route, baseUrl),
  };
}

function describeSuccessor({ id }: Route, baseUrl: string): JsonSchema {
  const { deprecated_operations: operations } = describeLifecycle(baseUrl);
  const operation = operations.find(({ operationId }) => operationId === id);
  if (operation === undefined) return {};
  return 'successor' in operation
    ? { 'x-successor-version': operation.successor }
    : { 'x-successor-version-map': operation.successors };
}
