import type { AllowanceLimits, AllowancePolicy } from '../../access/allowances/allowances.ts';
import type { Endpoint } from '../../core/endpoint.ts';
import type { JsonSchema } from '../../core/json-schema.ts';
import type { ProblemCode } from '../../core/problem.ts';

/** An optional key, as `security` of an operation. */
export const optionalKey = [{}, { bearerKey: [] }] as const;

export const keyedPolicies = ['public', 'key'] as const satisfies readonly AllowancePolicy[];

interface AccessDescription {
  readonly callers: string;
  readonly members: JsonSchema;
  readonly problems: readonly ProblemCode[];
  /** Description of the bearer token by the name of the security scheme. */
  readonly scheme: Readonly<Record<string, string>>;
}

export const accesses: Readonly<Record<Endpoint['access'], AccessDescription>> = {
  open: {
    callers: 'Anybody may call it, without credentials.',
    members: {},
    problems: [],
    scheme: {},
  },
  key: {
    callers: 'A bearer key is optional: it has a larger allowance.',
    members: { security: optionalKey, 'x-rate-limit-policies': keyedPolicies },
    problems: ['invalid_option', 'invalid_key', 'rate_limited'],
    scheme: { bearerKey: 'An optional key, which the operator hands out. There is no sign-in.' },
  },
  bearer: {
    callers: 'Any bearer token is accepted; none is needed unless the operator demands one.',
    members: { security: [{}, { anyBearer: [] }] },
    problems: ['missing_bearer'],
    scheme: { anyBearer: 'Any token. Send one always: an operator can demand it.' },
  },
  operator: {
    callers: 'For the operator alone: it takes the admin token.',
    members: { security: [{ adminToken: [] }] },
    problems: ['unauthorized', 'overloaded'],
    scheme: { adminToken: 'The operator’s token.' },
  },
};

/** Describes the security schemes of the reads, which take a key, and of endpoints. */
export function describeSecurity(endpoints: readonly Endpoint[]): JsonSchema {
  const used = new Set<string>(['key', ...endpoints.map(({ access }) => access)]);
  const schemes = Object.entries(accesses)
    .filter(([name]) => used.has(name))
    .flatMap(([, { scheme }]) => Object.entries(scheme));
  return Object.fromEntries(
    schemes.map(([name, description]) => [name, { type: 'http', scheme: 'bearer', description }]),
  );
}

/** Describes the allowances of this server by policy: `x-rate-limit-policies` of the document. */
export function describeRateLimits(limits: AllowanceLimits): JsonSchema {
  const window_seconds = limits.windowSeconds;
  return {
    public: {
      counts: 'Browse reads that the response cache does not answer.',
      partition: 'The client address; of IPv6 its /64.',
      quota: limits.public,
      window_seconds,
    },
    key: {
      counts: 'Browse reads with a valid key that the response cache does not answer.',
      partition: 'The key, which can have a quota of its own.',
      quota: limits.key,
      window_seconds,
    },
    post: {
      counts:
        'Reads of posts, of replies and of oEmbed documents that the response cache does not answer.',
      partition: 'The client address; of IPv6 its /64. Keys change nothing.',
      quota: limits.post,
      window_seconds,
    },
  } satisfies Record<AllowancePolicy, JsonSchema>;
}
