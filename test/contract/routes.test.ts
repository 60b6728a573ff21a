import { expect, it } from 'vitest';
import { readRoutes } from '../../src/http/routes.ts';
import { reads } from '../../src/reads/index.ts';
import { buildTestApp } from '../support/build-app.ts';

const given: Readonly<Record<string, string>> = {
  handle: 'ada.example',
  id: '1900000000000000001',
  n: '1',
};

it('gives every route an id of its own', () => {
  const ids = readRoutes.map(({ id }) => id);

  expect(new Set(ids).size).toBe(ids.length);
});

it.each(readRoutes)('answers at $path', async ({ path, read }) => {
  const app = await buildTestApp();
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => given[name] ?? '');
  const post = encodeURIComponent(`http://localhost:8080/${given.handle}/status/${given.id}`);
  const url = `${filled}?url=${post}&q=heron&platform=archive`;

  const [get, head, other] = [
    await app.request(url),
    await app.request(url, { method: 'HEAD' }),
    await app.request(url, { method: 'POST' }),
  ];

  expect([get.statusCode, head.statusCode, other.statusCode]).toEqual([200, 200, 405]);
  expect(Object.keys(reads[read].params.shape)).toContain('format');
});
