import { describe, expect, it } from 'vitest';
import { dumpArchive, importExport } from '../../../support/exports/import-export.ts';
import { writeXExport } from '../../../support/exports/read-x.ts';
import { makeTweet } from '../../../support/exports/x-export.ts';
import { ask, openRig } from './archive-rig.ts';

const edited = (id: number, ids: readonly string[], full_text: string) =>
  makeTweet(id, { full_text, edit_info: { initial: { editTweetIds: ids } } });

const reply = makeTweet(70, {
  full_text: 'And more',
  in_reply_to_status_id_str: '51',
  in_reply_to_screen_name: 'Wren_Example',
});

const texts = ['Frist heron', 'Second heron', 'Third heron'];

/** Exports before the post was edited, and after each edit. */
const exports = () =>
  texts.map((_, last) => {
    const versions = texts.slice(0, last + 1);
    const ids = versions.map((_text, index) => String(51 + index));
    const tweets = versions.map((text, index) => edited(51 + index, ids, text));
    return writeXExport({ tweets: [...tweets, reply] });
  });

async function importAll(paths: readonly string[]) {
  const { store, archive } = openRig();
  for (const path of paths) await importExport(store, path);
  return { store, archive };
}

describe('the versions of an edited post', () => {
  it('are one post, whatever the order of the exports', async () => {
    const [first = '', second = '', third = ''] = exports();
    const { store: once } = await importAll([third]);

    for (const order of [
      [first, second, third],
      [third, second, first],
      [second, third, first, third],
    ]) {
      const { store } = await importAll(order);
      expect(dumpArchive(store)).toEqual(dumpArchive(once));
    }
  });

  it('are one post if the first one lists only itself, also over an older export', async () => {
    const first = edited(51, ['51'], 'Frist heron');
    const edit_info = { edit: { initialTweetId: '51' } };
    const later = makeTweet(52, { full_text: 'First heron', edit_info });
    const newer = writeXExport({ tweets: [first, later] });
    const { store: once } = await importAll([newer]);

    const { store } = await importAll([writeXExport({ tweets: [first] }), newer]);

    expect(dumpArchive(store)).toEqual(dumpArchive(once));
    expect(store.readPost('x', '51', 'wren_example')?.post).toMatchObject({ id: '52' });
  });

  it('are found by the last version only', async () => {
    const { archive } = await importAll(exports());

    const { items } = await ask(archive).search('heron');

    expect(items).toMatchObject([{ id: '53', text: 'Third heron' }]);
    expect((await ask(archive).search('frist')).items).toEqual([]);
  });

  it('are read by the id of each version, with the replies to each', async () => {
    const { store } = await importAll(exports());

    for (const id of ['51', '52', '53']) {
      const read = store.readPost('x', id, 'wren_example');
      expect(read?.post).toMatchObject({ id: '53' });
      expect(read && store.readReplies(read.post)).toMatchObject([{ post: { id: '70' } }]);
    }
    const answer = store.readPost('x', '70', 'wren_example');
    expect(answer && store.readParent(answer)?.post).toMatchObject({ id: '53' });
  });

  it('are removed with the account', async () => {
    const paths = exports();
    const { store } = await importAll(paths);
    const account = { platform: 'x', handle: 'wren_example' } as const;

    store.removeAccount(account);
    await importExport(store, paths[0] ?? '');

    expect(store.readPost('x', '51', 'wren_example')?.post).toMatchObject({ text: 'Frist heron' });
  });
});
