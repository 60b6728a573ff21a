import type { LightMyRequestResponse } from 'fastify';
import { type Item, parseList } from 'structured-headers';
import { expect } from 'vitest';
import { checkReply, type TestApp } from './build-app.ts';

/** Rate limit of a response, parsed from its two header fields without Perch's own code. */
export interface RateLimit {
  readonly policy: string;
  /** `q`: units per window. */
  readonly quota: number;
  /** `w`: length of the window in seconds. */
  readonly windowSeconds: number;
  /** `r`: remaining units. */
  readonly remaining: number;
  /** `t`: seconds until all units are available again. */
  readonly resetSeconds: number;
}

/**
 * Parses `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10 §§3-4).
 *
 * @throws if they do not have the same single policy with exactly the parameters of `docs/keys.md`
 */
export function readRateLimit({ headers }: Pick<LightMyRequestResponse, 'headers'>): RateLimit {
  const policy = readOne(headers['ratelimit-policy'], ['q', 'w']);
  const limit = readOne(headers.ratelimit, ['r', 't']);
  expect(limit.name).toBe(policy.name);
  const [quota = 0, windowSeconds = 0] = policy.values;
  const [remaining = 0, resetSeconds = 0] = limit.values;
  return { policy: policy.name, quota, windowSeconds, remaining, resetSeconds };
}

/** Parses a list with one string whose parameters have these names and are natural numbers. */
function readOne(value: unknown, names: readonly string[]) {
  const members = parseList(String(value));
  expect(members).toHaveLength(1);
  const [name, parameters] = members[0] as Item; // the next line throws for an inner list
  expect(name).toBeTypeOf('string');
  expect([...parameters.keys()]).toEqual(names);
  const values = [...parameters.values()].map(Number);
  for (const number of values) expect(Number.isSafeInteger(number) && number >= 0).toBe(true);
  return { name: String(name), values };
}

/** Socket address and headers of a test request. */
export interface ClientRequest {
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'OPTIONS';
}

/** Sends a request from a client address, and checks the response. */
export async function requestFrom(
  { server }: Pick<TestApp, 'server'>,
  url: string,
  { from = '192.0.2.1', headers = {}, method = 'GET' }: ClientRequest = {},
): Promise<LightMyRequestResponse> {
  const reply = await server.inject({ url, method, headers, remoteAddress: from });
  checkReply(reply);
  return reply;
}
