import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../support/build-app.ts';
import { dids, toPostRecord, toTid } from '../support/exports/bluesky-records.ts';
import { writeRepository } from '../support/exports/car-file.ts';
import {
  actorAddress,
  toAnnounce,
  toCreate,
  toExportFiles,
} from '../support/exports/mastodon-export.ts';
import { writeXExport } from '../support/exports/read-x.ts';
import { writeTarGz } from '../support/exports/tar-file.ts';
import { makeTweet } from '../support/exports/x-export.ts';
import { runArchive } from '../support/run-here.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

/** Imports an export into an empty archive, and returns an app that serves it. */
async function importInto(name: string, bytes: Uint8Array, ...options: readonly string[]) {
  const folder = temporaryFolder();
  const dataDir = join(folder, 'data');
  const path = join(folder, name);
  writeFileSync(path, bytes);
  const run = await runArchive(dataDir, 'import', path, ...options);
  const app = await buildTestApp({ env: { PERCH_DATA_DIR: dataDir, PERCH_PROVIDERS: 'archive' } });
  return { app, dataDir, path, run };
}

const read = async (app: TestApp, path: string) => {
  const reply = await app.request(`/api/v1/${path}`, { headers: { accept: 'application/json' } });
  return { status: reply.statusCode, body: reply.json() };
};

const textsOf = (body: { posts: readonly { text: string }[] }) =>
  body.posts.map(({ text }) => text);

const first = toTid(Date.UTC(2024, 0, 2));
const second = toTid(Date.UTC(2024, 0, 3));
const third = toTid(Date.UTC(2024, 0, 4));

const toReply = (did: string, key: string) => {
  const uri = `at://${did}/app.bsky.feed.post/${key}`;
  return { reply: { root: { uri, cid: 'x' }, parent: { uri, cid: 'x' } } };
};

const records = {
  'app.bsky.actor.profile/self': { $type: 'app.bsky.actor.profile', displayName: 'Ada Fenwick' },
  [`app.bsky.feed.post/${first}`]: toPostRecord('A heron stood there', '2024-01-02T00:00:00Z'),
  [`app.bsky.feed.post/${second}`]: toPostRecord(
    'And then it left',
    '2024-01-03T00:00:00Z',
    toReply(dids.ada, first),
  ),
  [`app.bsky.feed.post/${third}`]: toPostRecord(
    'Thank you!',
    '2024-01-04T00:00:00Z',
    toReply(dids.ben, '3kccccccccc22'),
  ),
  'app.bsky.graph.follow/3kddddddddd22': { $type: 'app.bsky.graph.follow', subject: dids.ben },
};

describe('an archived repository of Bluesky', () => {
  it('answers every read, by handle and by DID', async () => {
    const { app, run } = await importInto(
      'repo.car',
      writeRepository(dids.ada, records),
      '--handle',
      'ada.test',
    );

    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(run.stdout).toContain('Bluesky repository, 1 account, 3 posts, 0 reposts, 1 follow;');
    for (const handle of ['ada.test', dids.ada]) {
      const profile = await read(app, `profiles/${handle}`);
      expect(profile).toMatchObject({ status: 200, body: { profile: { name: 'Ada Fenwick' } } });
      expect(textsOf(profile.body)).toEqual(['And then it left', 'A heron stood there']);
    }
    const all = await read(app, 'profiles/ada.test?with_replies=true');
    expect(textsOf(all.body)).toEqual(['Thank you!', 'And then it left', 'A heron stood there']);
    const thread = await read(app, `posts?url=https://bsky.app/profile/ada.test/post/${first}`);
    expect(textsOf(thread.body)).toEqual(['A heron stood there', 'And then it left']);
    const following = await read(app, 'profiles/ada.test/following');
    expect(following.body.users).toMatchObject([{ screen_name: dids.ben }]);
    expect(following.body.warnings).toEqual([]);
    const followers = await read(app, 'profiles/ada.test/followers');
    expect(followers.body).toMatchObject({
      users: [],
      warnings: [expect.stringContaining('does not contain its followers')],
    });
    const found = await read(app, 'search?q=heron&platform=archive');
    expect(textsOf(found.body)).toContain('A heron stood there');
  });

  it('is not served if its author asks for that', async () => {
    const labels = {
      $type: 'com.atproto.label.defs#selfLabels',
      values: [{ val: '!no-unauthenticated' }],
    };
    const shy = { $type: 'app.bsky.actor.profile', displayName: 'Ada', labels };
    const { app, run, dataDir } = await importInto(
      'repo.car',
      writeRepository(dids.ada, { ...records, 'app.bsky.actor.profile/self': shy }),
    );

    expect(run.stderr).toContain('hides the account from visitors without a login');
    for (const path of [
      `profiles/${dids.ada}`,
      `profiles/${dids.ada}/following`,
      `posts?handle=${dids.ada}&id=${first}`,
    ]) {
      expect((await read(app, path)).status, path).not.toBe(200);
    }
    const found = await read(app, 'search?q=heron&platform=archive');
    expect(textsOf(found.body)).not.toContain('A heron stood there');
    const out = join(temporaryFolder(), 'notes');
    expect(
      await runArchive(dataDir, 'export', dids.ada, '--format', 'markdown', '--output', out),
    ).toMatchObject({ code: 1, stderr: expect.stringContaining('Use --format ndjson') });
    expect((await runArchive(dataDir, 'export')).stdout).toContain('A heron stood there');
  });

  it('is recognized when it is imported again, and new under another handle', async () => {
    const { dataDir, path } = await importInto('repo.car', writeRepository(dids.ada, records));

    const again = await runArchive(dataDir, 'import', path);
    const named = await runArchive(dataDir, 'import', path, '--handle', 'ada.test');

    expect(again.stdout).toContain('already imported');
    expect(named.stdout).not.toContain('already imported');
  });

  it('can be exported and removed by DID', async () => {
    const bytes = writeRepository(dids.ada, records);
    const { dataDir } = await importInto('repo.car', bytes, '--handle', 'ada.test');

    const exported = await runArchive(dataDir, 'export', dids.ada.toUpperCase());
    const removed = await runArchive(dataDir, 'remove', dids.ada);

    expect(exported.stdout).toContain('A heron stood there');
    expect(removed).toMatchObject({ code: 0, stdout: expect.stringContaining('ada.test on') });
    expect((await runArchive(dataDir, 'list')).stdout).toContain('has no accounts');
  });

  it.each([
    [['--handle', 'ada_x'], 3, 'ada_x is not a Bluesky handle.'],
    [['--handle', 'ada test'], 2, '--handle "ada test" is not a handle'],
  ])('is refused with %j', async (options, code, message) => {
    const run = importInto('repo.car', writeRepository(dids.ada, records), ...options).then(
      (imported) => imported.run,
      (error: unknown) => ({ code: 2, stderr: String(error) }),
    );

    expect(await run).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });
});

describe('an archived export of Mastodon', () => {
  const activities = [
    toCreate(1, '<p>A heron stood there</p>'),
    toCreate(2, '<p>And then it left</p>', { inReplyTo: `${actorAddress}/statuses/1` }),
    toCreate(3, '<p>Thank you!</p>', {
      inReplyTo: 'https://other.example.org/users/ben/statuses/7',
    }),
    toCreate(4, '<p>A secret heron</p>', { audience: 'followers' }),
    toCreate(5, '<p>Another secret heron</p>', { audience: 'direct' }),
    toAnnounce(`${actorAddress}/statuses/1`),
    toAnnounce('https://other.example.org/users/ben/statuses/7'),
  ];

  it('answers every read', async () => {
    const { app, run } = await importInto('a.tar.gz', writeTarGz(toExportFiles(activities)));

    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(run.stdout).toContain('Mastodon export, 1 account, 3 posts, 2 reposts, 0 follows;');
    expect(run.stdout).toContain('2 records skipped: not public.');
    const profile = await read(app, 'profiles/Ada@social.example.org?with_replies=true');
    expect(profile.body.profile).toMatchObject({
      name: 'Ada Fenwick',
      screen_name: 'Ada@social.example.org',
    });
    expect(textsOf(profile.body)).toEqual([
      'Thank you!',
      'And then it left',
      'A heron stood there',
    ]);
    const following = await read(app, 'profiles/ada@social.example.org/following');
    expect(following.body).toMatchObject({
      users: [],
      warnings: ['The export of this account does not contain the accounts it follows.'],
    });
    const thread = await read(app, 'posts?url=https://social.example.org/@ada/1');
    expect(textsOf(thread.body)).toEqual(['A heron stood there', 'And then it left']);
    const found = await read(app, 'search?q=heron&platform=archive&limit=100');
    expect(textsOf(found.body)).toContain('A heron stood there');
    expect(JSON.stringify(found.body)).not.toContain('secret');
    for (const id of [4, 5]) {
      expect((await read(app, `posts?handle=ada@social.example.org&id=${id}`)).status).not.toBe(
        200,
      );
    }
  });

  it('serves each post at the URL that it prints', async () => {
    const objects = ['objects/7e1d5a6b-93d3-4315-ab8e-25b1665740cf', 'ap/users/115/statuses/116'];
    const created = objects.map((path, at) =>
      toCreate(at + 1, 'A heron', { id: `https://social.example.org/${path}`, url: null }),
    );
    const bytes = writeTarGz(toExportFiles([...created, toCreate(3, 'A heron')]));
    const { app, run } = await importInto('a.tar.gz', bytes, '--handle', 'ada@maps.example.org');

    expect(run.stdout).toContain('3 posts');
    const profile = await read(app, 'profiles/ada@maps.example.org');
    for (const { url, id } of profile.body.posts) {
      const post = await read(app, `posts?url=${encodeURIComponent(url)}&thread=off`);
      expect(post, url).toMatchObject({ status: 200, body: { posts: [{ id, url }] } });
    }
    const foreign = await read(app, 'posts?url=https://other.example.org/objects/7e1d5a6b-9');
    expect(foreign.status).not.toBe(200);
  });

  it('is refused under a handle of another platform, with a message', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'a.tar.gz');
    writeFileSync(path, writeTarGz(toExportFiles(activities)));

    const run = await runArchive(join(folder, 'data'), 'import', path, '--handle', 'ada.test');

    expect(run).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('ada.test is not a Mastodon handle.'),
    });
  });

  it('is imported again when lists of follows are placed beside it', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'export');
    mkdirSync(path);
    const files = toExportFiles(activities).filter(({ name }) => !name.includes('/'));
    for (const { name, content } of files) writeFileSync(join(path, name), content);
    const dataDir = join(folder, 'data');
    await runArchive(dataDir, 'import', path);
    writeFileSync(join(path, 'followers.csv'), 'Account address\nben@other.example.org\n');

    const again = await runArchive(dataDir, 'import', path, '--json');

    expect(JSON.parse(again.stdout)).toMatchObject({ ended: 'done', follows: 1 });
  });
});

it('serves the last version of an edited post at the URL of an earlier one', async () => {
  const dataDir = temporaryFolder();
  const edit_info = { initial: { editTweetIds: ['51', '52'] } };
  const tweets = ['Frist', 'Second'].map((full_text, index) =>
    makeTweet(51 + index, { full_text, edit_info }),
  );
  await runArchive(dataDir, 'import', writeXExport({ tweets }));
  const app = await buildTestApp({ env: { PERCH_DATA_DIR: dataDir, PERCH_PROVIDERS: 'archive' } });

  for (const id of ['51', '52']) {
    expect(await read(app, `posts?handle=wren_example&id=${id}`)).toMatchObject({
      status: 200,
      body: {
        posts: [{ id: '52', text: 'Second', earlier_versions: [{ id: '51', text: 'Frist' }] }],
      },
    });
  }
});
