import { expect } from 'vitest';
import { listReply } from '../../src/model/results.ts';
import type { TestClient } from './build-app.ts';

/** Page of a list: the ids of its posts or the handles of its accounts, and the limit that was asked for. */
export interface WalkedPage {
  readonly ids: readonly string[];
  readonly limit: number;
}

/** Reads a list in JSON to its end, in at most 3,000 pages; each page has the next of the limits. */
export async function walkList(
  app: TestClient,
  path: string,
  limits: readonly number[],
): Promise<readonly WalkedPage[]> {
  const pages: WalkedPage[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined && pages.length < 3000) {
    const limit = limits[pages.length % limits.length] ?? 20;
    const reply = await app.request(`${path}&format=json&limit=${limit}${cursor}`);
    expect(reply.statusCode, reply.body).toBe(200);
    const { posts = [], users = [], nextCursor } = listReply.parse(reply.json());
    const handles = users.map(({ screen_name }) => screen_name);
    pages.push({ ids: [...posts.map(({ id }) => String(id)), ...handles], limit });
    cursor = nextCursor && `&cursor=${nextCursor}`;
  }
  return pages;
}

/** Reads a list to its end, whose pages except the last must be full. Returns the ids of its items. */
export async function readWhole(
  app: TestClient,
  path: string,
  limits: readonly number[],
): Promise<readonly string[]> {
  const pages = await walkList(app, path, limits);
  for (const { ids, limit } of pages.slice(0, -1)) expect(ids).toHaveLength(limit);
  return pages.flatMap(({ ids }) => ids);
}
