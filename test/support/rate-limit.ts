import type { LightMyRequestResponse } from 'fastify';
import { type Item, parseList } from 'structured-headers';
import { expect } from 'vitest';
import { checkReply, type TestApp } from './build-app.ts';

/** What the two fields of a reply say, as a parser that knows nothing of Perch understands them. */
export interface RateLimit {
  readonly policy: string;
  /** `q`: the units in a window. */
  readonly quota: number;
  /** `w`: the seconds of the window. */
  readonly windowSeconds: number;
  /** `r`: the units that are left. */
  readonly remaining: number;
  /** `t`: the seconds until there are more. */
  readonly resetSeconds: number;
}

/**
 * Reads `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10 §§3-4). Fails where
 * they have not exactly one policy, the same one, with exactly the parameters of `docs/keys.md`.
 */
export function readRateLimit({ headers }: Pick<LightMyRequestResponse, 'headers'>): RateLimit {
  const policy = readOne(headers['ratelimit-policy'], ['q', 'w']);
  const limit = readOne(headers.ratelimit, ['r', 't']);
  expect(limit.name).toBe(policy.name);
  const [quota = 0, windowSeconds = 0] = policy.values;
  const [remaining = 0, resetSeconds = 0] = limit.values;
  return { policy: policy.name, quota, windowSeconds, remaining, resetSeconds };
}

/** Reads a list of one string whose parameters, all of them natural numbers, have these names. */
function readOne(value: unknown, names: readonly string[]) {
  const members = parseList(String(value));
  expect(members).toHaveLength(1);
  const [name, parameters] = members[0] as Item; // an inner list fails at the next line
  expect(name).toBeTypeOf('string');
  expect([...parameters.keys()]).toEqual(names);
  const values = [...parameters.values()].map(Number);
  for (const number of values) expect(Number.isSafeInteger(number) && number >= 0).toBe(true);
  return { name: String(name), values };
}

/** How a test asks: at a socket with this address, and with these headers. */
export interface Asking {
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'OPTIONS';
}

/** Asks an app as the client at an address, and checks the reply as ever. */
export async function askFrom(
  { server }: Pick<TestApp, 'server'>,
  url: string,
  { from = '192.0.2.1', headers = {}, method = 'GET' }: Asking = {},
): Promise<LightMyRequestResponse> {
  const reply = await server.inject({ url, method, headers, remoteAddress: from });
  checkReply(reply);
  return reply;
}
