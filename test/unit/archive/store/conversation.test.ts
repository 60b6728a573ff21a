import { describe, expect, it } from 'vitest';
import type { Account } from '../../../../src/model/account.ts';
import { postUrl } from '../../../../src/model/addresses/urls.ts';
import type { Status } from '../../../../src/model/post.ts';
import type { PostFound } from '../../../../src/model/queries.ts';
import type { Platform } from '../../../../src/model/reference.ts';
import { stubAccount } from '../../../support/stub-provider.ts';
import { openRig, putPost, type Rig, stored } from './archive-rig.ts';

function accountOf(platform: Platform, handle: string, more: Partial<Account> = {}): Account {
  return { ...stubAccount(handle), platform, ...more };
}

interface Draft {
  readonly id: string;
  readonly to?: { readonly author: string; readonly id: string; readonly url?: string };
  readonly second: number;
}

function write({ store }: Rig, author: Account, { id, to, second }: Draft): void {
  const { platform, screen_name: handle } = author;
  store.putAccount({ account: author, stored });
  const urlOf = (name: string, key: string) => postUrl({ platform, handle: name, id: key }, '');
  const target: Status['replying_to'] =
    to === undefined
      ? null
      : { screen_name: to.author, status: to.id, url: to.url ?? urlOf(to.author, to.id) };
  putPost(store, id, {
    author,
    platform,
    url: urlOf(handle, id),
    text: `${handle} ${id}`,
    created_timestamp: 1_767_225_600 + second,
    replying_to: target,
  });
}

async function read(
  { archive }: Rig,
  platform: Platform,
  handle: string,
  id: string,
): Promise<PostFound> {
  const found = await archive.fetch.post?.(
    { kind: 'post', post: { platform, handle, id }, thread: true, replies: 'top' },
    { signal: AbortSignal.timeout(5000) },
  );
  if (found === undefined) throw new Error('The archive does not answer posts.');
  return found;
}

function textsOf({ ancestors, post, continuation, replies }: PostFound) {
  const texts = (posts: PostFound['replies']) => posts.map(({ text }) => text);
  return {
    ancestors: texts(ancestors),
    post: post.text,
    continuation: texts(continuation),
    replies: texts(replies),
  };
}

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';

describe('a conversation on Bluesky, where accounts can use the same id', () => {
  const ada = accountOf('bluesky', 'ada.test', { id: did });
  const ben = accountOf('bluesky', 'ben.test', { id: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb' });

  it('has the right parent and the right replies', async () => {
    const rig = openRig();
    write(rig, ada, { id: 'same', second: 1 });
    write(rig, ben, { id: 'same', second: 2 });
    write(rig, ben, { id: 'own', second: 3, to: { author: 'ben.test', id: 'same' } });
    write(rig, ben, { id: 'toada', second: 4, to: { author: 'ada.test', id: 'same' } });
    write(rig, ada, { id: 'on', second: 5, to: { author: 'ada.test', id: 'same' } });

    expect(textsOf(await read(rig, 'bluesky', 'ada.test', 'same'))).toEqual({
      ancestors: [],
      post: 'ada.test same',
      continuation: ['ada.test on'],
      replies: ['ben.test toada'],
    });
    expect(textsOf(await read(rig, 'bluesky', 'ben.test', 'same'))).toMatchObject({
      post: 'ben.test same',
      continuation: ['ben.test own'],
      replies: [],
    });
    expect(textsOf(await read(rig, 'bluesky', 'ben.test', 'toada')).ancestors).toEqual([
      'ada.test same',
    ]);
    expect(textsOf(await read(rig, 'bluesky', 'ben.test', 'own')).ancestors).toEqual([
      'ben.test same',
    ]);
  });

  it('has both of two replies with the same id', async () => {
    const rig = openRig();
    const dee = accountOf('bluesky', 'dee.test');
    write(rig, ada, { id: 'first', second: 1 });
    for (const author of [ben, dee]) {
      write(rig, author, { id: 'twin', second: 2, to: { author: 'ada.test', id: 'first' } });
    }

    const { replies } = textsOf(await read(rig, 'bluesky', 'ada.test', 'first'));

    expect(replies.toSorted()).toEqual(['ben.test twin', 'dee.test twin']);
  });

  it('finds the parent of a reply that names an account by DID', async () => {
    const rig = openRig();
    write(rig, ada, { id: 'first', second: 1 });
    write(rig, ben, { id: 'answer', second: 2, to: { author: did, id: 'first' } });

    expect(textsOf(await read(rig, 'bluesky', did, 'first'))).toMatchObject({
      post: 'ada.test first',
      replies: ['ben.test answer'],
    });
    expect(textsOf(await read(rig, 'bluesky', 'ben.test', 'answer')).ancestors).toEqual([
      'ada.test first',
    ]);
  });

  it("does not return another account's post with the same id", async () => {
    const rig = openRig();
    write(rig, ada, { id: 'first', second: 1 });
    write(rig, ben, { id: 'second', second: 2 });

    await expect(read(rig, 'bluesky', 'ben.test', 'first')).rejects.toMatchObject({
      kind: 'ambiguous',
    });
  });
});

describe('a conversation on Mastodon, where servers can use the same id', () => {
  const ada = accountOf('mastodon', 'ada@one.example.org');
  const ben = accountOf('mastodon', 'ben@two.example.org');

  it('has the parent on the right server', async () => {
    const rig = openRig();
    write(rig, ada, { id: '7', second: 1 });
    write(rig, ben, { id: '7', second: 2 });
    write(rig, ada, { id: '8', second: 3, to: { author: 'ben@two.example.org', id: '7' } });
    const long = { author: 'ada@one.example.org', id: '7' };
    const url = 'https://one.example.org/users/ada/statuses/7';
    write(rig, ben, { id: '9', second: 4, to: { ...long, url } });

    expect(textsOf(await read(rig, 'mastodon', 'ada@one.example.org', '8')).ancestors).toEqual([
      'ben@two.example.org 7',
    ]);
    expect(textsOf(await read(rig, 'mastodon', 'ada@one.example.org', '7')).replies).toEqual([
      'ben@two.example.org 9',
    ]);
    expect(textsOf(await read(rig, 'mastodon', 'ben@two.example.org', '7')).replies).toEqual([
      'ada@one.example.org 8',
    ]);
  });
});

it('finds a post of X by id, whatever its account is called now', async () => {
  const rig = openRig();
  write(rig, accountOf('x', 'wren'), { id: '1', second: 1 });
  write(rig, accountOf('x', 'finch'), { id: '2', second: 2, to: { author: 'oldname', id: '1' } });

  expect(textsOf(await read(rig, 'x', 'finch', '2')).ancestors).toEqual(['wren 1']);
  expect(textsOf(await read(rig, 'x', 'wren', '1')).replies).toEqual(['finch 2']);
});

it('ends if posts reply to each other', async () => {
  const rig = openRig();
  const wren = accountOf('x', 'wren');
  write(rig, wren, { id: '1', second: 1, to: { author: 'wren', id: '2' } });
  write(rig, wren, { id: '2', second: 2, to: { author: 'wren', id: '1' } });

  expect(textsOf(await read(rig, 'x', 'wren', '1'))).toMatchObject({
    ancestors: ['wren 2'],
    continuation: ['wren 2'],
  });
});
