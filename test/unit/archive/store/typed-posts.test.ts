import { expect, it } from 'vitest';
import { dumpArchive, importExport } from '../../../support/exports/import-export.ts';
import { writeXExport } from '../../../support/exports/read-x.ts';
import { makeTweet } from '../../../support/exports/x-export.ts';
import { openRig } from './archive-rig.ts';

const writeRows = (likes: number) =>
  writeXExport({
    tweets: [
      makeTweet(70, {
        full_text: 'RT @heron: low tide, again',
        favorite_count: String(likes),
        retweet_count: '0',
      }),
      makeTweet(71, { full_text: 'RT @tern: high tide', favorite_count: '0', retweet_count: '0' }),
    ],
  });

async function dumpAfter(paths: readonly string[]) {
  const { store } = openRig();
  for (const path of paths) await importExport(store, path);
  return dumpArchive(store);
}

it('keeps only the own post if another export has it as a repost, in any order', async () => {
  const [without, liked] = [writeRows(0), writeRows(4)];
  const expected = await dumpAfter([liked]);

  expect(expected.join()).not.toContain('"screen_name":"heron"');
  expect(expected.join()).toContain('"screen_name":"tern"');
  expect(await dumpAfter([without, liked])).toEqual(expected);
  expect(await dumpAfter([liked, without])).toEqual(expected);
});
