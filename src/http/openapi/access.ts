import type { AllowanceLimits, AllowancePolicy } from '../../access/allowances/allowances.ts';
import type { Endpoint } from '../../core/endpoint.ts';
import type { JsonSchema } from '../../core/json-schema.ts';
import { isBrowseRoute, type Route } from '../reads/routes.ts';

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

/** Whom each policy counts, and what for. */
const policies = {
  public: {
    counts: 'Browse reads that the response cache does not answer.',
    partition: 'The client address; of IPv6 its /64.',
  },
  key: {
    counts: 'Browse reads with a valid key that the response cache does not answer.',
    partition: 'The key, which can have a quota of its own.',
  },
  post: {
    counts:
      'Reads of posts, of replies and of oEmbed documents that the response cache does not answer.',
    partition: 'The client address; of IPv6 its /64. Keys change nothing.',
  },
} as const satisfies Readonly<
  Record<AllowancePolicy, { readonly counts: string; readonly partition: string }>
>;

/**
 * Gives the allowances of this server, `x-rate-limit-policies` of the document: by the names that
 * `RateLimit-Policy` has, the quota in units and the window in seconds.
 */
export function describeRateLimits(limits: AllowanceLimits): JsonSchema {
  const window = limits.windowSeconds;
  const rows = Object.entries(policies).map(([name, policy]) => {
    // The keys of the table are policies, by its type.
    const quota = limits[name as AllowancePolicy];
    return [name, { ...policy, quota, window_seconds: window }] as const;
  });
  return Object.fromEntries(rows);
}

/** Gives the policies that a read of a route can be paid by, `x-rate-limit-policies` of an operation. */
export function listPolicies(route: Route): readonly AllowancePolicy[] {
  return isBrowseRoute(route) ? keyedPolicies : ['post'];
}

/** The policies of what is read with an optional key. */
export const keyedPolicies = ['public', 'key'] as const satisfies readonly AllowancePolicy[];
