import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTarget, type Target } from './processes.ts';

/**
 * Response copied from a Perch server. A minimal server sends the same response, so that benchmarks can compare the
 * speed of both servers.
 */
export interface Page {
  /** Path and query of the request that Perch answered with this response. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Path of an SQLite database. If it is set, the minimal server opens the database at its start. */
  readonly database?: string;
  /** Headers of the request that Perch answered with this response. Benchmarks send them with each request. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
}

const ports = { 'bare-http': 18_081, 'bare-fastify': 18_082 } as const;

/** Response headers that are not copied, because every server sets its own. */
const connectionHeaders = ['date', 'connection', 'keep-alive'];

/**
 * Sends a request to a Perch server and returns a copy of the response. Pass the copy to `startBare` to start a
 * minimal server that sends the same body and headers.
 */
export async function copyPage({ url, headers }: Target): Promise<Page> {
  // `fetch` would decode the body of a compressed response, and keep its headers.
  const answer = await fetch(url, { headers: { 'accept-encoding': 'identity', ...headers } });
  const { pathname, search } = new URL(url);
  return {
    target: `${pathname}${search}`,
    headers: Object.fromEntries(
      [...answer.headers].filter(([key]) => !connectionHeaders.includes(key)),
    ),
    body: await answer.text(),
    requestHeaders: headers,
  };
}

/** Starts a minimal server (plain Node.js or Fastify) that responds with `page` to requests for the path of `page`. */
export async function startBare(name: keyof typeof ports, page: Page): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), 'perch-bench-bare-'));
  const file = join(folder, 'page.json');
  const port = ports[name];
  const path = page.target.split('?')[0];
  writeFileSync(file, JSON.stringify({ ...page, path, port }));
  try {
    const args = [join(import.meta.dirname, `targets/${name}.mjs`), file];
    const url = `http://127.0.0.1:${port}${page.target}`;
    return await startTarget({ name, args, url, headers: page.requestHeaders ?? {} });
  } finally {
    rmSync(folder, { recursive: true, force: true }); // the server reads the file only at its start
  }
}
