import type { ExportItem } from '../../../src/archive/imports/export-source.ts';
import { xFormat } from '../../../src/archive/imports/x/x-format.ts';
import type { Status } from '../../../src/model/post.ts';
import { temporaryFolder } from '../spawn-perch.ts';
import { readExport, readLeftOutLines } from './read-export.ts';
import { makeXExport, toScript, writeExport } from './x-export.ts';

/** Writes an X export with the given records by name of file, without `.js`. Returns its folder. */
export function writeXExport(records: Readonly<Record<string, readonly object[]>>): string {
  const files = new Map(makeXExport({ posts: 0 }));
  for (const name of ['like', 'direct-messages']) files.delete(`data/${name}.js`);
  for (const [name, rows] of Object.entries(records)) {
    const [kind = name] = name.split('-part');
    const texts = rows.map((row) => JSON.stringify(row));
    files.set(`data/${name}.js`, toScript(kind.replaceAll('-', '_'), texts));
  }
  return writeExport(temporaryFolder(), files);
}

/** Posts, other records and remarks of an X export. */
export interface ReadX {
  readonly posts: readonly Status[];
  readonly items: readonly ExportItem[];
  readonly leftOut: readonly string[];
}

/** Reads an X export with the given records by name of file, without `.js`. */
export async function readX(records: Readonly<Record<string, readonly object[]>>): Promise<ReadX> {
  const folder = writeXExport(records);
  const items = (await readExport(xFormat, folder)) ?? [];
  const posts = items.flatMap((item) =>
    item.kind === 'post' && item.post.type === 'status' ? [item.post] : [],
  );
  return { posts, items, leftOut: await readLeftOutLines(xFormat, folder) };
}

/** Returns an entry of `note-tweet.js`: the full text of a long post. */
export const makeNote = (
  text: string,
  createdAt: string,
  urls: readonly (readonly [shortUrl: string, expandedUrl: string])[] = [],
) => ({
  noteTweet: {
    noteTweetId: '5',
    createdAt,
    core: { text, urls: urls.map(([shortUrl, expandedUrl]) => ({ shortUrl, expandedUrl })) },
  },
});
