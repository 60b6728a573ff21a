import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toHeadLine, toItemLine } from '../../../../src/archive/imports/ndjson/ndjson-format.ts';
import { readSample } from '../../../../src/archive/sample.ts';
import type { ArchiveStore } from '../../../../src/archive/store/store.ts';
import type { Post } from '../../../../src/model/post.ts';
import { dumpArchive, importExport } from '../../../support/exports/import-export.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';
import { stubPost } from '../../../support/stub-provider.ts';
import { openRig } from '../store/archive-rig.ts';

/** Stores the sample as if it were from Mastodon, because the sample has every kind of item. */
function putSampleAsMastodon(store: ArchiveStore): void {
  const { accounts, posts, reposts, follows } = readSample();
  const platform = 'mastodon' as const;
  const stored = 1_790_000_000;
  for (const account of accounts) store.putAccount({ account: { ...account, platform }, stored });
  for (const [index, { post: sample }] of posts.entries()) {
    const post = JSON.parse(JSON.stringify(sample).replaceAll('"sample"', '"mastodon"')) as Post;
    const handle = post.author?.screen_name.toLowerCase() ?? '';
    const created = post.type === 'status' ? post.created_timestamp + (index % 4) / 8 : 0;
    const row = {
      platform,
      handle,
      id: post.id ?? '',
      parentId: null,
      created,
      stored: stored - index,
    };
    store.putPost({ ...row, post });
  }
  for (const repost of reposts) store.putRepost({ platform, ...repost, stored });
  for (const [follower, others] of Object.entries(follows)) {
    for (const followed of others) store.putFollow({ platform, follower, followed, stored });
  }
}

function writeAll(store: ArchiveStore): string {
  const items = store.listAccounts().flatMap((account) => [...store.readAccountItems(account)]);
  return writeLines([
    toHeadLine(1_790_000_000),
    ...[...items, ...store.readOrphanPosts()].map(toItemLine),
  ]);
}

function writeLines(lines: readonly string[]): string {
  const path = `${temporaryFolder()}/archive.ndjson`;
  writeFileSync(path, lines.join(''));
  return path;
}

const head = toHeadLine(1_790_000_000);
const account = (store: ArchiveStore) => {
  putSampleAsMastodon(store);
  const [first] = store.listAccounts();
  if (first === undefined) throw new Error('The sample has no accounts.');
  const [item] = store.readAccountItems(first);
  if (item === undefined) throw new Error('The account is not there.');
  return toItemLine(item);
};

describe('the NDJSON of an archive', () => {
  it('restores an equal archive', async () => {
    const [one, other] = [openRig().store, openRig().store];
    putSampleAsMastodon(one);

    const { outcome } = await importExport(other, writeAll(one));

    expect(outcome.counts).toMatchObject({ accounts: 16, faults: 0 });
    expect(dumpArchive(other)).toEqual(dumpArchive(one));
    expect(dumpArchive(other).length).toBeGreaterThan(200);
  });

  it('is read without unreadable lines', async () => {
    const { store } = openRig();
    const line = account(openRig().store);
    const path = writeLines([
      head,
      '{"kind":"post"}\n',
      'no JSON\n',
      '\r\n',
      `${JSON.stringify('x'.repeat(8 * 2 ** 20))}\n`,
      line.replace('{', '{"later":"fields",'),
    ]);

    const { outcome, skipped } = await importExport(store, path);

    expect(outcome.counts).toMatchObject({ accounts: 1, faults: 3 });
    expect(skipped.map(({ location, reason }) => `${location}: ${reason}`)).toEqual([
      'archive.ndjson, line 2: Its field stored is missing or cannot be read.',
      'archive.ndjson, line 3: It is not valid JSON.',
      'archive.ndjson, line 5: It is larger than 8 MiB.',
    ]);
  });

  it('keeps only well-formed language tags', async () => {
    const { store } = openRig();
    const post = { ...stubPost('1'), lang: 'pt_BR', quote: { ...stubPost('2'), lang: 'pt-BR' } };
    const line = JSON.stringify({ kind: 'post', stored: 1, parent: null, created: 1, post });

    await importExport(store, writeLines([head, `${line}\n`]));

    const dump = JSON.stringify(dumpArchive(store));
    expect(dump).not.toContain('pt_BR');
    expect(dump).toContain('pt-BR');
  });

  it('is read without a line that is nested too deeply', async () => {
    const { store } = openRig();
    const { quote: _, ...post } = stubPost('1');
    const outer = JSON.stringify({ ...post, quote: null }).slice(0, -'null}'.length);
    const depth = 7000;
    const nested = outer.repeat(depth);
    const line = `{"kind":"post","stored":1,"parent":null,"created":1,"post":${nested}null${'}'.repeat(depth + 1)}\n`;

    const { outcome, skipped } = await importExport(
      store,
      writeLines([head, line, account(openRig().store)]),
    );

    expect(outcome.counts).toMatchObject({ accounts: 1, faults: 1 });
    expect(skipped.map(({ reason }) => reason)).toEqual(['It is nested too deeply.']);
  });

  it('is truncated if the last line is incomplete', async () => {
    const { store } = openRig();
    const line = account(openRig().store);
    const whole = writeLines([head, line.trimEnd()]);
    const cut = writeLines([head, line, line.slice(0, -3)]);

    expect((await importExport(store, whole)).outcome).toMatchObject({
      ended: 'done',
      isCutOff: false,
    });
    const { outcome, skipped } = await importExport(store, cut);
    expect(outcome).toMatchObject({ isCutOff: true, counts: { accounts: 1, faults: 1 } });
    expect(skipped.map(({ location, reason }) => `${location}: ${reason}`)).toEqual([
      'archive.ndjson, line 3: The file ends in the middle of this line.',
    ]);
    expect((await importExport(store, cut)).outcome.ended).not.toBe('known');
  });

  it('is rejected if its version is newer', async () => {
    const path = writeLines(['{"perch_archive":2,"exported_at":1}\n']);

    await expect(importExport(openRig().store, path)).rejects.toThrow('A newer version of Perch');
  });

  it('is not recognized in other files', async () => {
    const path = writeLines(['{"kind":"account"}\n']);

    await expect(importExport(openRig().store, path)).rejects.toThrow('is no export');
  });
});
