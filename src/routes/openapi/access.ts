import type { AllowanceLimits, AllowancePolicy } from '../../access/allowances.ts';
import type { JsonSchema } from '../../lib/json-schema.ts';
import type { ProblemCode } from '../../lib/problem.ts';
import type { Endpoint } from '../route.ts';

/** Value of the OpenAPI member `security` for operations that accept an optional API key. */
export const optionalKey = [{}, { bearerKey: [] }] as const;

export const keyedPolicies = ['public', 'key'] as const satisfies readonly AllowancePolicy[];

interface AccessDescription {
  readonly callers: string;
  readonly members: JsonSchema;
  readonly problems: readonly ProblemCode[];
  /** Credentials by OpenAPI security scheme; empty for operations without credentials. */
  readonly scheme: Readonly<Record<string, string>>;
}

export const accesses: Readonly<Record<Endpoint['access'], AccessDescription>> = {
  open: {
    callers: 'No credentials are required.',
    members: {},
    problems: [],
    scheme: {},
  },
  key: {
    callers: 'A bearer key is optional and has a larger allowance.',
    members: { security: optionalKey, 'x-rate-limit-policies': keyedPolicies },
    problems: ['invalid_option', 'invalid_key', 'rate_limited'],
    scheme: { bearerKey: 'An optional key that the operator issues. There is no sign-in.' },
  },
  bearer: {
    callers: 'Any bearer token is accepted. None is required unless the operator configures it.',
    members: { security: [{}, { anyBearer: [] }] },
    problems: ['missing_bearer'],
    scheme: { anyBearer: 'Any token. Always send one, because an operator can require it.' },
  },
  operator: {
    callers: 'Only for the operator; requires the admin token.',
    members: { security: [{ adminToken: [] }] },
    problems: ['unauthorized', 'overloaded'],
    scheme: { adminToken: 'The operator’s token.' },
  },
};

/** Returns the OpenAPI security schemes that the access kinds use. */
export function describeSecurity(kinds: readonly Endpoint['access'][]): JsonSchema {
  const used = new Set<string>(kinds);
  const schemes = Object.entries(accesses)
    .filter(([name]) => used.has(name))
    .flatMap(([, { scheme }]) => Object.entries(scheme));
  return Object.fromEntries(
    schemes.map(([name, description]) => [name, { type: 'http', scheme: 'bearer', description }]),
  );
}

const byAddress = 'The client address; for IPv6 its /64 network.';
const byAddressOnly = `${byAddress} Keys make no difference.`;

const policies: Readonly<Record<AllowancePolicy, { counts: string; partition: string }>> = {
  public: {
    counts: 'Browse reads that the response cache does not answer.',
    partition: byAddress,
  },
  key: {
    counts: 'Browse reads with a valid key that the response cache does not answer.',
    partition: 'The key. A key can have its own quota.',
  },
  post: {
    counts: 'Reads of posts, replies and oEmbed documents that the response cache does not answer.',
    partition: byAddressOnly,
  },
  media: {
    counts: 'Pictures that the server fetches from other hosts (`PERCH_MEDIA=proxy`).',
    partition: byAddressOnly,
  },
};

/** Returns the request quotas by policy name, for `x-rate-limit-policies`. */
export function describeRateLimits({ windowSeconds, ...quotas }: AllowanceLimits): JsonSchema {
  const window_seconds = windowSeconds;
  const described = Object.entries(policies).map(([name, policy]) => {
    return [name, { ...policy, quota: quotas[name as AllowancePolicy], window_seconds }];
  });
  return Object.fromEntries(described);
}
