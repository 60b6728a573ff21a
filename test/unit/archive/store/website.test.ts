import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openHistoryStore } from '../../../../src/archive/histories/history-store.ts';
import { toHeadLine, toItemLine } from '../../../../src/archive/imports/ndjson/ndjson-format.ts';
import { migrations } from '../../../../src/archive/store/schema.ts';
import { openSqlite } from '../../../../src/lib/files/sqlite.ts';
import type { Status } from '../../../../src/model/post.ts';
import { importExport } from '../../../support/exports/import-export.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';
import { stubAccount } from '../../../support/stub-provider.ts';
import { ask, baseUrl, openRig, putAccount, putPost, type Rig } from './archive-rig.ts';

const website = { url: 'https://wren.example/', display_url: 'wren.example' };
const wren = { ...stubAccount('wren'), website };

/** Rewrites the JSON of a table's rows to have `website` as text. */
function makeOld({ path }: Pick<Rig, 'path'>, ...tables: readonly string[]): void {
  const database = openSqlite({ path, migrations });
  for (const table of tables) {
    const { changes } = database
      .prepare(`UPDATE ${table} SET json = replace(json, ?, '"https://wren.example/"')`)
      .run(JSON.stringify(website));
    expect(changes).toBeGreaterThan(0);
  }
  database.close();
}

function openOld(): Rig {
  const rig = openRig();
  putAccount(rig.store, 'wren', { website });
  const quote = putPost(rig.store, 1, { author: wren });
  // A post can contain the text of the member.
  putPost(rig.store, 2, { author: wren, quote, text: '"website":"https://wren.example/"' });
  makeOld(rig, 'accounts', 'posts');
  return rig;
}

describe('rows that were stored when `website` was text', () => {
  it('are read with an object', async () => {
    const { archive } = openOld();

    const { account } = await ask(archive).profile('wren');
    const { items } = await ask(archive).timeline('wren');

    expect(account.website).toEqual(website);
    const [latest] = items as readonly Status[];
    expect(latest?.author.website).toEqual(website);
    expect(latest?.quote?.author?.website).toEqual(website);
    expect(latest?.text).toBe('"website":"https://wren.example/"');
  });

  it('are exported with an object', () => {
    const { store } = openOld();

    const lines = [...store.readAccountItems({ platform: 'x', handle: 'wren' })].map(toItemLine);

    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line).toContain(JSON.stringify({ website }).slice(1, -1));
  });

  it('are read with an object from the history store', async () => {
    const { path, store } = openRig();
    const historyStore = openHistoryStore({ path, baseUrl, maxBytes: 1e9 });
    const of = {
      account: { platform: 'x', handle: 'wren' },
      accountId: '7',
      withReplies: true,
      withReposts: true,
    } as const;
    const range = { fromSecond: 0, toSecond: 100 };
    const post = putPost(store, 1, { author: wren });
    const posts = [{ post, second: 50, belowSecond: 50, stored: 100 }];
    await historyStore.put({ ...of, ranges: [range], posts });
    makeOld({ path }, 'kept_posts');

    const part = historyStore.read({ ...of, range, limit: 10 });
    historyStore.close();

    expect(part.posts.map((one) => one.post.author?.website)).toEqual([website]);
  });
});

describe('an export that was written when `website` was text', () => {
  it('is imported with an object', async () => {
    const { store, archive } = openRig();
    const line = toItemLine({ kind: 'account', stored: 1, account: wren });
    const old = line.replace(JSON.stringify(website), '"https://wren.example/"');
    const path = `${temporaryFolder()}/archive.ndjson`;
    writeFileSync(path, toHeadLine(1) + old);

    const { outcome } = await importExport(store, path);

    expect(outcome.counts).toMatchObject({ accounts: 1, faults: 0 });
    expect((await ask(archive).profile('wren')).account.website).toEqual(website);
  });
});
