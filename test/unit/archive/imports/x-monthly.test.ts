import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ExportItem } from '../../../../src/archive/imports/export-source.ts';
import { xCsvFormat } from '../../../../src/archive/imports/x/csv-format.ts';
import { xFormat } from '../../../../src/archive/imports/x/x-format.ts';
import {
  author,
  makeCsv,
  makeMonthlyExport,
  makeMonthlyPost,
} from '../../../support/exports/monthly-export.ts';
import { openSource, readExport, readLeftOutLines } from '../../../support/exports/read-export.ts';
import { writeExport } from '../../../support/exports/x-export.ts';
import { writeZip } from '../../../support/exports/zip.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

const write = (months: Readonly<Record<string, readonly object[]>>) =>
  writeExport(temporaryFolder(), makeMonthlyExport(months));

const read = async (...posts: readonly object[]): Promise<readonly ExportItem[]> =>
  ((await readExport(xFormat, write({ '2015_01': posts }))) ?? []).slice(1);

describe('an X export from 2012 to 2018', () => {
  const months = {
    '2015_02': [makeMonthlyPost(3, 'February', { created_at: 'Sun Feb 01 10:00:00 +0000 2015' })],
    '2015_01': [makeMonthlyPost(2, 'R&amp;B in January')],
  };
  const expected = [
    {
      kind: 'account',
      account: {
        id: '1001',
        screen_name: 'Wren_Example',
        name: 'Wren & Co',
        description: 'Small bird, loud.',
        location: 'A hedge',
        website: { url: 'https://wren.example/' },
        avatar_url: 'https://pictures.example/wren_400x400.jpg',
        statuses: 2,
        joined: '2008-05-01T08:30:00Z',
        protected: false,
      },
    },
    {
      kind: 'post',
      post: {
        id: '2',
        text: 'R&B in January',
        created_at: '2015-01-24T02:02:37Z',
        source: 'Mobile Web',
      },
    },
    { kind: 'post', post: { id: '3', created_at: '2015-02-01T10:00:00Z', likes: null } },
  ];

  it('is read from its folder and from the folder of its data', async () => {
    const folder = write(months);

    expect(await readExport(xFormat, folder)).toMatchObject(expected);
    expect(await readExport(xFormat, join(folder, 'data'))).toMatchObject(expected);
  });

  it('is read from a zip file', async () => {
    const zip = await writeZip(join(temporaryFolder(), 'x.zip'), makeMonthlyExport(months), 'old/');

    expect(await readExport(xFormat, zip)).toMatchObject(expected);
  });

  it('has the time of its creation', async () => {
    const source = await openSource(xFormat, write(months));

    expect(source?.exported).toBe(Date.UTC(2016, 1, 1, 10) / 1000);
    await source?.close();
  });

  it('has the originals of reposts', async () => {
    const original = makeMonthlyPost(40, 'Low tide #sea', {
      created_at: '2014-12-31 23:59:59 +0000',
      entities: { hashtags: [{ text: 'sea', indices: [9, 13] }] },
      user: { ...author, name: 'Heron', screen_name: 'Heron', id_str: '9' },
    });

    const items = await read(
      makeMonthlyPost(50, 'RT @Heron: Low tide #sea', { retweeted_status: original }),
    );

    expect(items).toMatchObject([
      {
        kind: 'post',
        created: Date.UTC(2014, 11, 31, 23, 59, 59) / 1000,
        post: {
          id: '40',
          text: 'Low tide #sea',
          facets: [{ type: 'hashtag', start: 9, end: 13 }],
          author: { id: '9', screen_name: 'Heron', name: 'Heron' },
        },
      },
      {
        kind: 'repost',
        handle: 'wren_example',
        postHandle: 'heron',
        postId: '40',
        created: Date.UTC(2015, 0, 24, 2, 2, 37) / 1000,
      },
    ]);
  });

  it('has posts that start with a hand-typed RT', async () => {
    const items = await read(makeMonthlyPost(50, 'RT @Heron: Low tide'));

    expect(items).toMatchObject([
      { post: { id: '50', text: 'RT @Heron: Low tide', author: { screen_name: 'Wren_Example' } } },
    ]);
  });

  it('has pictures with the largest of their sizes', async () => {
    const sizes = [
      { h: 340, w: 340, resize: 'fit' },
      { h: 800, w: 1200, resize: 'fit' },
    ];
    const media = [
      {
        url: 'http://t.co/pic',
        media_url_https: 'https://pictures.example/1.jpg',
        indices: [5, 20],
        sizes,
      },
    ];

    const [item] = await read(
      makeMonthlyPost(50, 'Look http://t.co/pic', { entities: { media, urls: [] } }),
    );

    expect(item).toMatchObject({
      post: { text: 'Look', media: { photos: [{ width: 1200, height: 800 }] } },
    });
  });

  it('is protected if its newest post is of a protected account', async () => {
    const hidden = makeMonthlyPost(3, 'Later', { user: { ...author, protected: true } });
    const folder = write({ '2015_01': [makeMonthlyPost(2, 'Sooner')], '2015_02': [hidden] });

    expect((await readExport(xFormat, folder))?.[0]).toMatchObject({
      account: { protected: true },
    });
  });

  it('names the files that are left out', async () => {
    expect(await readLeftOutLines(xFormat, write(months))).toEqual([
      'data/csv/2015_01.csv 2 line the same posts are in other files',
      'tweets.csv 2 line the same posts are in other files',
    ]);
  });

  it.each([
    ['without its details', undefined, { id: '1001', name: 'Wren & Co' }],
    ['with empty details', '{}', { id: '1001', name: 'Wren & Co' }],
    [
      'without an id',
      '{"screen_name":"Wren_Example","full_name":"Jenny"}',
      { id: '1001', name: 'Jenny' },
    ],
  ])('%s has the account of its newest posts', async (_name, details, account) => {
    const files = new Map(makeMonthlyExport(months));
    files.delete('data/js/user_details.js');
    if (details !== undefined)
      files.set('data/js/user_details.js', `var user_details = ${details}`);
    const items = await readExport(xFormat, writeExport(temporaryFolder(), files));

    expect(items).toMatchObject([
      { account: { screen_name: 'Wren_Example', ...account } },
      { post: { id: '2' } },
      { post: { id: '3' } },
    ]);
  });

  it('has posts whose ids are only numbers', async () => {
    const items = await read(
      makeMonthlyPost(50, 'Small', { id_str: undefined }),
      makeMonthlyPost(2 ** 60, 'Large', { id_str: undefined }),
    );

    expect(items).toMatchObject([{ post: { id: '50', text: 'Small' } }, { kind: 'skipped' }]);
  });

  const heron = { screen_name: 'Heron', id_str: '9' };
  it.each([
    ['no time', 'RT @Heron: Low tide', { id_str: '40', text: 'Low tide', user: heron }, '40'],
    ['no handle', 'RT @Heron: Low', { id_str: '41', text: 'Low tide', user: { id: 9 } }, '41'],
    ['no text', 'RT @Heron Low tide', { id_str: '42', user: heron }, '42'],
    ['no id', 'RT @Heron: Low tide', { text: 'Low tide', user: heron }, '50'],
    ['a wrapped post', 'Any', { user: heron, tweet: { id_str: '43', text: 'Low tide' } }, '43'],
  ])('has reposts of an original with %s', async (_name, text, retweeted_status, postId) => {
    const items = await read(makeMonthlyPost(50, text, { retweeted_status }));

    expect(items).toMatchObject([
      { post: { id: postId, text: 'Low tide', author: { id: '9', screen_name: 'Heron' } } },
      { kind: 'repost', postHandle: 'heron', postId },
    ]);
  });

  it('has reposts of which only the id of the original is left', async () => {
    const items = await read(
      makeMonthlyPost(50, 'RT @Heron: Low tide', { retweeted_status_id: 44 }),
      makeMonthlyPost(51, 'Low tide', { retweeted_status_id_str: '45' }),
    );

    expect(items).toMatchObject([
      { post: { id: '44', text: 'Low tide', author: { screen_name: 'Heron' } } },
      { kind: 'repost', postId: '44' },
      { kind: 'skipped', reason: expect.stringContaining('original') },
    ]);
  });

  it('is read if reposts are nested thousands of times', async () => {
    const level = '{"user":{"screen_name":"Heron"},"tweet":{"id_str":"47","text":"Low"';
    const nested = `${`${level},"retweeted_status":`.repeat(3000)}{}${'}}'.repeat(3000)}`;
    const row = `{"id_str":"50","text":"RT","created_at":"2015-01-24 02:02:37 +0000","retweeted_status":${nested}}`;
    const name = 'data/js/tweets/2015_01.js';
    const files = new Map(makeMonthlyExport({})).set(name, `Grailbird.data = [${row}]`);

    const items = await readExport(xFormat, writeExport(temporaryFolder(), files));

    expect(items?.slice(1)).toMatchObject([{ post: { id: '47' } }, { kind: 'repost' }]);
  });

  it('needs an account', async () => {
    const anonymous = { '2015_01': [makeMonthlyPost(2, 'Low tide', { user: undefined })] };
    const files = new Map(makeMonthlyExport(anonymous)).set(
      'data/js/user_details.js',
      'var a = {}',
    );
    const folder = writeExport(temporaryFolder(), files);

    await expect(readExport(xFormat, folder)).rejects.toThrow('does not contain an account');
  });
});

describe('a tweets.csv without scripts', () => {
  const none = ['', '', ''];
  const at = '2015-01-24 02:02:37 +0000';
  const rows = [
    ['2', '', '', at, 'web', 'Two\nlines, "quoted" #sea', ...none, ''],
    [
      ...['3', '1', '9', at, 'web', '@heron see http://t.co/a1 and http://t.co/b2', ...none],
      'https://pages.example/1,https://pages.example/2?a=b,c',
    ],
    ['5', '', '', at, 'web', 'RT @heron: Low tide', '4', '9', '2014-12-31 00:00:00 +0000', ''],
    ['6', '', '', at, 'web', 'RT @heron: typed', ...none, ''],
    ['none', '', '', at, 'web', 'No id', ...none, ''],
  ];
  const hints = { handle: 'Wren_Example' };
  const expected = [
    { kind: 'account', account: { screen_name: 'Wren_Example' } },
    { post: { id: '2', text: 'Two\nlines, "quoted" #sea', facets: [{ type: 'hashtag' }] } },
    {
      parentId: '1',
      post: {
        text: '@heron see https://pages.example/1 and https://pages.example/2?a=b,c',
        facets: [{ type: 'mention' }, { type: 'link', start: 11 }, { type: 'link' }],
        replying_to: { screen_name: null, status: '1' },
      },
    },
    { post: { id: '4', text: 'Low tide', author: { id: '9', screen_name: 'heron' } } },
    { kind: 'repost', postHandle: 'heron', postId: '4' },
    { post: { id: '6', text: 'RT @heron: typed', author: { screen_name: 'Wren_Example' } } },
    { kind: 'skipped', location: 'tweets.csv, row 6' },
  ];

  it('is read from a folder, a zip file and as a file', async () => {
    const files = new Map([['tweets.csv', makeCsv(rows)]]);
    const folder = writeExport(temporaryFolder(), files);
    const zip = await writeZip(join(folder, 'x.zip'), files);

    expect(await readExport(xCsvFormat, folder, hints)).toMatchObject(expected);
    expect(await readExport(xCsvFormat, zip, hints)).toMatchObject(expected);
    expect(await readExport(xCsvFormat, join(folder, 'tweets.csv'), hints)).toMatchObject(expected);
  });

  const readRow = async (row: readonly string[]) => {
    const folder = writeExport(temporaryFolder(), new Map([['tweets.csv', makeCsv([row])]]));
    return (await readExport(xCsvFormat, folder, hints))?.slice(1);
  };
  const [x, y] = ['https://pages.example/?q=x', 'https://other.example/y'];

  it.each([
    ['of one link with a comma', 'See http://t.co/a1', `${x},${y}`, [`${x},${y}`]],
    ['of two links, one of them twice', 'http://t.co/a1 http://t.co/b2', `${x},${x},${y}`, [x, y]],
    ['of the same link twice', 'http://t.co/a1 http://t.co/b2', `${x},${x}`, [x, x]],
    ['of fewer links', 'http://t.co/a1 http://t.co/b2', x, ['http://t.co/a1', 'http://t.co/b2']],
    [
      'of more links',
      'http://t.co/a1 http://t.co/b2',
      `${x},${y},${x}1`,
      ['http://t.co/a1', 'http://t.co/b2'],
    ],
  ])('has the addresses %s', async (_name, text, expanded, urls) => {
    const items = await readRow(['2', '', '', at, 'web', text, ...none, expanded]);

    expect(items).toMatchObject([{ post: { facets: urls.map((url) => ({ url })) } }]);
  });

  it('has reposts without a colon or the time of the original', async () => {
    const items = await readRow(['5', '', '', at, 'web', 'RT @heron Low tide', '4', '9', '', '']);

    expect(items).toMatchObject([
      { post: { id: '4', text: 'Low tide', created_at: '2015-01-24T02:02:37Z' } },
      { kind: 'repost', postHandle: 'heron', postId: '4' },
    ]);
  });

  it('has no reposts of unknown authors', async () => {
    const items = await readRow(['5', '', '', at, 'web', 'Low tide', '4', '9', '', '']);

    expect(items).toMatchObject([{ kind: 'skipped', location: 'tweets.csv, row 2' }]);
  });

  it('needs a handle of X', async () => {
    const folder = writeExport(temporaryFolder(), new Map([['tweets.csv', makeCsv(rows)]]));

    await expect(readExport(xCsvFormat, folder)).rejects.toThrow('Set --handle');
    await expect(readExport(xCsvFormat, folder, { handle: 'a@b.test' })).rejects.toThrow(
      '--handle',
    );
  });

  it('is not any other table', async () => {
    const file = join(temporaryFolder(), 'tweets.csv');
    writeFileSync(file, 'a,b\n1,2\n');

    expect(await openSource(xCsvFormat, file)).toBeNull();
  });
});
