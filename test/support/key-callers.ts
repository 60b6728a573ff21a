import { rmSync } from 'node:fs';
import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import { buildTestApp, type TestApp, type TestAppOptions } from './build-app.ts';
import { temporaryFolder } from './spawn-perch.ts';

/** What a caller's key can be worth. */
export const callers = ['anonymous', 'valid', 'invalid', 'unverified'] as const;

/** One of them. */
export type CallerStatus = (typeof callers)[number];

/** Has the shape of a key, and nobody has it. */
export const unknownKey = `perch_${'u'.repeat(43)}`;

/** An app, and the headers of one who asks it. */
export interface Meeting {
  readonly app: TestApp;
  readonly headers: Record<string, string>;
}

/** Builds an app, and gives the headers of a caller whose key is worth `status` there. */
export async function meet(status: CallerStatus, options: TestAppOptions = {}): Promise<Meeting> {
  if (status === 'unverified') return meetUnverified(options);
  const app = await buildTestApp(options);
  const { headers } = await app.createKey();
  const presented = { valid: { ...headers }, anonymous: {}, invalid: bearer(unknownKey) };
  return { app, headers: presented[status] };
}

async function meetUnverified({ env, ...options }: TestAppOptions): Promise<Meeting> {
  const folder = temporaryFolder();
  const app = await buildTestApp({ ...options, env: { ...env, PERCH_DATA_DIR: folder } });
  const { headers } = await app.createKey();
  rmSync(`${folder}/perch.db`);
  return { app, headers: { ...headers } };
}

/** Gives the header that presents a key. */
export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

/** Checks what a reply of the browse surface says of the key. */
export function expectStatus(reply: LightMyRequestResponse, status: CallerStatus): void {
  const { headers } = reply;
  expect(headers['x-api-key-status']).toBe(status);
  expect(headers['ratelimit-policy']).toMatch(status === 'valid' ? /^"key";/ : /^"public";/);
  expect(String(headers.vary).split(', ')).toEqual(expect.arrayContaining(['Authorization']));
  const isPrivate = status !== 'anonymous';
  expect(headers['cache-control'] === 'private, no-store').toBe(isPrivate);
}

/** The start of a reply, as it stood on the wire. */
export interface Head {
  readonly code: number;
  /** By lower-case name. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Gives the heads of replies as they stood on the wire: a status and the fields by lower-case name. */
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
