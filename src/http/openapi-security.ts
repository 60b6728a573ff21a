import type { Endpoint } from '../core/endpoint.ts';
import type { JsonSchema } from '../core/json-schema.ts';

/** The name of the scheme of callers’ keys under `components`. */
export const keyScheme = 'bearerKey';

/** The name of the scheme of the operator’s token. */
export const adminScheme = 'adminToken';

/** The name of the scheme of the tokens that sessions are asked with. */
export const bearerScheme = 'anyBearer';

/** Gives the security schemes that the operations use. */
export function describeSecurity(endpoints: readonly Endpoint[]): JsonSchema {
  const used = new Set(endpoints.map(({ access }) => access));
  return {
    [keyScheme]: {
      type: 'http',
      scheme: 'bearer',
      description: 'An optional key, which the operator hands out. There is no sign-in.',
    },
    ...(used.has('bearer')
      ? {
          [bearerScheme]: {
            type: 'http',
            scheme: 'bearer',
            description: 'Any token. Send one always: an operator can demand it.',
          },
        }
      : {}),
    ...(used.has('operator')
      ? { [adminScheme]: { type: 'http', scheme: 'bearer', description: 'The operator’s token.' } }
      : {}),
  };
}
