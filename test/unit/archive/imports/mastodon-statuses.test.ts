import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mastodonFormat } from '../../../../src/archive/imports/mastodon/mastodon-format.ts';
import { openSource, readExport, readLeftOutLines } from '../../../support/exports/read-export.ts';
import { writeFolder } from '../../../support/exports/read-mastodon.ts';
import { accountRow, imageRow, statusRow } from '../../../support/mastodon-payloads.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

const wren = accountRow('wren');
const kelp = accountRow('kelp@kelp.example.net');
const own = 'wren@reef.example.org';

function readFile(content: unknown, hints?: { readonly handle?: string }) {
  const path = join(temporaryFolder(), 'reef.example.org.user.wren.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return readExport(mastodonFormat, path, hints);
}

/** Returns a file of a backup tool: the posts of the account, beside its favourites and other lists. */
const toBackup = (...statuses: readonly unknown[]) => ({
  version: 2,
  favourites: [statusRow('91', kelp, { content: '<p>A favourite</p>' })],
  account: wren,
  statuses,
  mentions: [{ type: 'mention', status: statusRow('92', kelp, { content: '<p>A mention</p>' }) }],
  bookmarks: [statusRow('93', kelp, { content: '<p>A bookmark</p>' })],
});

const first = statusRow('114620457512351116', wren, { content: '<p>A heron stood there</p>' });
const reply = statusRow('114620457512351118', wren, {
  content: '<p>And then it left</p>',
  in_reply_to_id: first.id,
  in_reply_to_account_id: wren.id,
});

describe('posts that a backup tool saved from the API of Mastodon', () => {
  it.each([
    ['an object', toBackup(first, reply)],
    ['an array', [first, reply]],
    ['an array after a byte order mark', `\uFEFF\n${JSON.stringify([first, reply])}`],
  ])('are read from %s', async (_, content) => {
    expect(await readFile(content)).toMatchObject([
      { kind: 'account', account: { screen_name: own, name: 'wren :wave:', followers: 3 } },
      {
        kind: 'post',
        parentId: null,
        created: Date.parse(first.created_at) / 1000,
        post: {
          id: first.id,
          url: first.url,
          text: 'A heron stood there',
          likes: 2,
          author: { screen_name: own },
        },
      },
      {
        kind: 'post',
        parentId: first.id,
        post: { replying_to: { screen_name: own, status: first.id } },
      },
    ]);
  });

  it('are reported as left out: the other lists of the file, with their numbers', async () => {
    const path = join(temporaryFolder(), 'reef.example.org.user.wren.json');
    writeFileSync(
      path,
      JSON.stringify({ ...toBackup(first, reply), followers: [], following: [kelp] }),
    );

    expect(await readLeftOutLines(mastodonFormat, path)).toEqual([
      'reef.example.org.user.wren.json, favourites 1 item favourites are private',
      'reef.example.org.user.wren.json, bookmarks 1 item bookmarks are private',
      expect.stringMatching(
        /, following 1 item Perch imports followed accounts only from CSV files$/,
      ),
    ]);
  });

  it('are read without the favourites, mentions and bookmarks', async () => {
    const text = JSON.stringify(await readFile(toBackup(first)));

    expect(text).toContain('A heron');
    expect(text).not.toMatch(/A favourite|A mention|A bookmark/);
  });

  it('are found in the files of a folder, beside the pictures', async () => {
    const attachment = imageRow('mud', { url: 'https://files.example.org/media/1/mud.png' });
    const last = statusRow('7', wren, { media_attachments: [attachment] });
    const folder = writeFolder([
      { name: 'reef.example.org.user.wren.0.json', content: JSON.stringify(toBackup(first)) },
      { name: 'reef.example.org.user.wren.json', content: JSON.stringify(toBackup(reply, last)) },
      { name: 'client.json', content: '{}' },
    ]);

    const items = await readExport(mastodonFormat, folder);
    const source = await openSource(mastodonFormat, folder);

    expect(items?.map((item) => (item.kind === 'post' ? item.post.id : item.kind))).toEqual([
      'account',
      first.id,
      reply.id,
      '7',
    ]);
    const name = source?.mediaNameOf?.('reef.example.org.user.wren/media/1/mud.png');
    expect(items?.at(-1)).toMatchObject({ media: [{ url: attachment.url, name }] });
    expect(source?.mediaNameOf?.('reef.example.org.user.wren.json')).toBeNull();
    expect(source?.mediaNameOf?.('other/media/1/mud.png')).toBeNull();
    await source?.close();
  });

  it('keep ids that a tool saved as large numbers', async () => {
    const json = JSON.stringify(toBackup(first, reply), null, 2);
    const numbers = json.replaceAll(/"((?:in_reply_to_)?(?:account_)?id)": "(\d+)"/g, '"$1": $2');

    expect(numbers).toContain(`"in_reply_to_id": ${first.id}`);
    expect(await readFile(numbers)).toEqual(await readFile(json));
  });

  it('keep texts that look like ids', async () => {
    const content = 'a "id": 12 and \\"id\\": 114620457512351116, and {"id":1}';

    const items = await readFile([statusRow('1', wren, { content })]);

    expect(items?.at(-1)).toMatchObject({ post: { text: content } });
  });

  it('have boosts with the boosted posts', async () => {
    const boosted = statusRow('90', kelp, {
      content: '<p>Kelp is edible</p>',
      uri: 'https://kelp.example.net/users/kelp/statuses/7',
      url: 'https://kelp.example.net/@kelp/7',
    });

    expect(await readFile([statusRow('5', wren, { reblog: boosted }), first])).toMatchObject([
      { kind: 'account' },
      {
        kind: 'post',
        post: {
          id: '7',
          text: 'Kelp is edible',
          author: { screen_name: 'kelp@kelp.example.net' },
          copied_from: { host: 'reef.example.org' },
          reposted_by: null,
        },
      },
      { kind: 'repost', handle: own, postHandle: 'kelp@kelp.example.net', postId: '7' },
      { kind: 'post' },
    ]);
  });

  it.each([
    ['private', { visibility: 'private' }, 'private'],
    ['direct', { visibility: 'direct' }, 'private'],
    ['of a later kind', { visibility: 'moonlit' }, 'private'],
    [
      'boosts of private posts',
      { reblog: statusRow('9', kelp, { visibility: 'private', content: 'Secret' }) },
      'private',
    ],
    ['by another account', { account: kelp }, 'fault'],
    ['without a time', { created_at: 'long ago' }, 'fault'],
  ])('are skipped if they are %s', async (_, fields, cause) => {
    const items = await readFile([first, statusRow('6', wren, { content: 'Secret', ...fields })]);

    expect(items?.at(-1)).toMatchObject({
      kind: 'skipped',
      cause,
      location: 'reef.example.org.user.wren.json, record 2',
    });
    expect(JSON.stringify(items)).not.toContain('Secret');
  });

  it('have the domain of a given handle', async () => {
    const handle = 'wren@example.org';

    expect(await readFile([first], { handle })).toMatchObject([
      { account: { screen_name: handle } },
      { post: { id: first.id, url: first.url, author: { screen_name: handle } } },
    ]);
    await expect(readFile([first], { handle: 'kelp@example.org' })).rejects.toThrow('not by kelp@');
  });

  it.each([
    ['no posts', toBackup()],
    ['other rows', [{ id: '1', text: 'x' }]],
    ['another object', { statuses: { id: '1' } }],
    ['text', 'Dear diary'],
    ['nothing', ''],
  ])('are not recognized in a file with %s', async (_, content) => {
    expect(await readFile(content)).toBeNull();
  });
});
