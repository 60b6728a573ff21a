import { expect, it } from 'vitest';
import { createPerch } from '../../../clients/typescript/src/index.ts';
import {
  broken,
  createFakeFetch,
  createSkippingClock,
  type FakeFetch,
  problem,
  stream,
} from '../../support/fake-fetch.ts';

const meta = { meta: { count: 3, truncated: false } };
const post = (id: string, more: object = {}) => ({ post: { type: 'status', id, ...more } });
const tombstone = { post: { type: 'tombstone', id: null, url: null, reason: 'deleted' } };
const toText = (...lines: readonly object[]) =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('');

function openHistory({ fetch }: FakeFetch) {
  const options = { baseUrl: 'http://perch.test', fetch, clock: createSkippingClock() };
  return createPerch(options).profiles.history('jack');
}

async function collect(fake: FakeFetch): Promise<unknown[]> {
  const ids: unknown[] = [];
  for await (const { id } of openHistory(fake)) ids.push(id);
  return ids;
}

it('reads posts, and then the description', async () => {
  const history = openHistory(
    createFakeFetch(
      stream([toText(post('3'), post('2')), toText({ weather: 1 }, post('1'), meta)]),
    ),
  );
  const ids: unknown[] = [];
  expect(history.meta).toBeNull();

  for await (const { id } of history) ids.push(id);

  expect(ids).toEqual(['3', '2', '1']);
  expect(history.meta).toEqual(meta.meta);
});

it('skips lines whose value is no object', async () => {
  const wrong = toText({ post: null }, { post: 1 }, { error: null }, { meta: 'none' });

  const ids = await collect(createFakeFetch(stream([wrong, toText(post('1'), meta)])));

  expect(ids).toEqual(['1']);
});

it('repeats a history that was cut off, and skips what was read', async () => {
  const fake = createFakeFetch(
    broken,
    stream([toText(post('3'), post('2')), '{"post":{"type":"sta'], 'breaks'),
    problem('overloaded', 503, 1),
    stream([toText(post('3'))], 'ends'),
    stream([toText(post('3'), post('2'), post('1'), meta)]),
  );

  expect(await collect(fake)).toEqual(['3', '2', '1']);
  expect(fake.sent).toHaveLength(5);
});

it('skips posts that are newer than the first attempt, and passes over posts that are gone', async () => {
  const fake = createFakeFetch(
    stream([toText(post('4'), post('3'), post('2'))], 'breaks'),
    stream([toText(post('5'), post('3'), post('2'), post('1'), meta)]),
  );

  expect(await collect(fake)).toEqual(['4', '3', '2', '1']);
});

it('tells a repost from its post, and placeholders without an id apart', async () => {
  const entries = [post('1', { reposted_by: { id: '9' } }), tombstone, post('1'), tombstone];
  const fake = createFakeFetch(
    stream([toText(...entries.slice(0, 2))], 'breaks'),
    stream([toText(...entries, meta)]),
  );

  expect(await collect(fake)).toEqual(['1', null, '1', null]);
});

it('throws the error in the last line', async () => {
  const error = {
    type: 'http://perch.test/docs/errors#upstream_error',
    title: 'Failed',
    status: 502,
    code: 'upstream_error',
    detail: 'The upstream failed.',
    resolution: 'Retry later.',
  };
  const fake = createFakeFetch(stream([toText(post('1'), { error })]));

  await expect(collect(fake)).rejects.toMatchObject({
    code: 'upstream_error',
    resolution: 'Retry later.',
  });
  expect(fake.sent).toHaveLength(1);
});
