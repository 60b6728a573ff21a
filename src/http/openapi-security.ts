import type { Endpoint } from '../core/endpoint.ts';
import type { JsonSchema } from '../core/json-schema.ts';

/** The name of the scheme of callers’ keys under `components`. */
export const keyScheme = 'bearerKey';

/** The name of the scheme of the operator’s token. */
export const adminScheme = 'adminToken';

/** Gives the security schemes that the operations use. */
export function describeSecurity(endpoints: readonly Endpoint[]): JsonSchema {
  const isAdministered = endpoints.some(({ access }) => access === 'operator');
  return {
    [keyScheme]: {
      type: 'http',
      scheme: 'bearer',
      description: 'An optional key, which the operator hands out. There is no sign-in.',
    },
    ...(isAdministered
      ? { [adminScheme]: { type: 'http', scheme: 'bearer', description: 'The operator’s token.' } }
      : {}),
  };
}
