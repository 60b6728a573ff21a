import { expect, it } from 'vitest';
import { openArchiveStore } from '../../src/archive/store/store.ts';
import { buildTestApp } from '../support/build-app.ts';
import { importExport } from '../support/exports/import-export.ts';
import {
  exporter,
  makeTweet,
  makeXExport,
  toScript,
  writeExport,
} from '../support/exports/x-export.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const mention = { screen_name: 'Heron', name: 'The Heron', id_str: '9', indices: ['3', '9'] };
const self = { in_reply_to_screen_name: exporter.handle };
const tweets = [
  makeTweet(20, { full_text: 'The tide is late.', created_at: 'Tue Oct 01 10:00:00 +0000 2024' }),
  makeTweet(21, {
    ...self,
    full_text: 'Still late.',
    created_at: 'Tue Oct 01 10:01:00 +0000 2024',
    in_reply_to_status_id_str: '20',
  }),
  makeTweet(22, {
    full_text: '@jack I know.',
    created_at: 'Tue Oct 01 10:02:00 +0000 2024',
    in_reply_to_status_id_str: '7',
    in_reply_to_screen_name: 'jack',
  }),
  makeTweet(23, {
    full_text: 'RT @Heron: Low water at six.',
    favorite_count: '0',
    retweet_count: '0',
    created_at: 'Tue Oct 01 10:03:00 +0000 2024',
    entities: { user_mentions: [mention] },
  }),
];

async function serveExport() {
  const folder = temporaryFolder();
  const files = new Map(makeXExport({ posts: 0, followers: 3, following: 2 }));
  files.set(
    'data/tweets.js',
    toScript(
      'tweets',
      tweets.map((row) => JSON.stringify(row)),
    ),
  );
  const store = openArchiveStore(`${folder}/archive.db`, 'http://localhost:8080');
  await importExport(store, writeExport(temporaryFolder(), files));
  store.close();
  const app = await buildTestApp({ env: { PERCH_DATA_DIR: folder } });
  return async (path: string) => {
    const reply = await app.request(`${path}${path.includes('?') ? '&' : '?'}format=json`);
    return { status: reply.statusCode, body: reply.json() };
  };
}

it('answers every read of an imported account', async () => {
  const get = await serveExport();
  const idsOf = (posts: readonly { readonly id: string }[]) => posts.map(({ id }) => id);

  const profile = await get('/Wren_Example?with_replies=true&with_reposts=true');
  const post = await get('/Wren_Example/status/20');
  const reposted = await get('/api/v1/posts?url=https://x.com/heron/status/23');
  const followers = await get('/wren_example/followers?limit=2');
  const following = await get('/wren_example/following');
  const found = await get('/search?platform=archive&q=from:wren_example%20late');

  expect(profile).toMatchObject({
    status: 200,
    body: {
      source: 'archive',
      profile: { id: exporter.id, name: 'Wren & Co', followers: 3, following: 2 },
      fetched_at: '2026-02-01T10:00:00Z',
    },
  });
  expect(idsOf(profile.body.posts)).toEqual(['23', '22', '21', '20']);
  expect(profile.body.posts[0]).toMatchObject({
    author: { screen_name: 'Heron' },
    reposted_by: { screen_name: exporter.handle },
  });
  expect(idsOf(post.body.posts)).toEqual(['20', '21']);
  expect(reposted.body.posts).toMatchObject([{ text: 'Low water at six.' }]);
  expect(followers.body.users).toMatchObject([
    { id: '2000000', screen_name: '2000000', url: 'https://x.com/i/user/2000000' },
    { id: '2000007', followers: null },
  ]);
  const next = `cursor=${encodeURIComponent(followers.body.nextCursor)}`;
  expect((await get(`/wren_example/followers?limit=2&${next}`)).body.users).toMatchObject([
    { id: '2000014' },
  ]);
  expect(following.body.users).toHaveLength(2);
  expect(idsOf(found.body.posts)).toEqual(['21', '20']);
});

it('leaves other accounts to the other providers', async () => {
  const get = await serveExport();

  // Of the reposted account, the archive has only a post.
  expect(await get('/heron')).toMatchObject({ status: 503 });
  expect(await get('/Wren_Example/status/999')).toMatchObject({ status: 503 });
});
