import { rmSync } from 'node:fs';
import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import { buildTestApp, type TestApp, type TestAppOptions } from './build-app.ts';
import { temporaryFolder } from './spawn-perch.ts';

/** Key statuses of callers. */
export const callers = ['anonymous', 'valid', 'invalid', 'unverified'] as const;

/** Key status of a caller. */
export type CallerStatus = (typeof callers)[number];

/** Key in a valid format that no store contains. */
export const unknownKey = `perch_${'u'.repeat(43)}`;

/** App with the headers of a caller. */
export interface CallerApp {
  readonly app: TestApp;
  readonly headers: Record<string, string>;
}

/** Builds an app, and returns it with the headers of a caller with the given key status. */
export async function openAsCaller(
  status: CallerStatus,
  options: TestAppOptions = {},
): Promise<CallerApp> {
  if (status === 'unverified') return openAsUnverified(options);
  const app = await buildTestApp(options);
  const { headers } = await app.createKey();
  const presented = { valid: { ...headers }, anonymous: {}, invalid: bearer(unknownKey) };
  return { app, headers: presented[status] };
}

async function openAsUnverified({ env, ...options }: TestAppOptions): Promise<CallerApp> {
  const folder = temporaryFolder();
  const app = await buildTestApp({ ...options, env: { ...env, PERCH_DATA_DIR: folder } });
  const { headers } = await app.createKey();
  rmSync(`${folder}/perch.db`);
  return { app, headers: { ...headers } };
}

/** Returns the header with a key. */
export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

/** Checks the key status in a response of the browse surface. */
export function expectStatus(reply: LightMyRequestResponse, status: CallerStatus): void {
  const { headers } = reply;
  expect(headers['x-api-key-status']).toBe(status);
  expect(headers['ratelimit-policy']).toMatch(status === 'valid' ? /^"key";/ : /^"public";/);
  expect(String(headers.vary).split(', ')).toEqual(expect.arrayContaining(['Authorization']));
  const isPrivate = status !== 'anonymous';
  expect(headers['cache-control'] === 'private, no-store').toBe(isPrivate);
}

/** Status and headers of a raw response. */
export interface Head {
  readonly code: number;
  /** Headers by lower-case name. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Parses the statuses and headers of raw responses. */
export function readHeads(received: string): readonly Head[] {
  const heads = received.matchAll(/^HTTP\/1\.1 (\d{3}) .*\r\n((?:.+\r\n)*)\r\n/gm);
  return [...heads].map(([, code, lines = '']) => ({
    code: Number(code),
    fields: new Map(
      lines.split('\r\n').map((line) => {
        const [name = '', ...value] = line.split(': ');
        return [name.toLowerCase(), value.join(': ')];
      }),
    ),
  }));
}
