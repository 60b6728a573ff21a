import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ExportedPost } from '../../../src/archive/imports/export-source.ts';
import { mastodonFormat } from '../../../src/archive/imports/mastodon/mastodon-format.ts';
import { temporaryFolder } from '../spawn-perch.ts';
import { toExportFiles } from './mastodon-export.ts';
import { readExport } from './read-export.ts';
import type { TarMember } from './tar-file.ts';

/** Writes the files of an export into a new folder, and returns the path of the folder. */
export function writeFolder(members: readonly TarMember[]): string {
  const folder = temporaryFolder();
  for (const { name, content } of members) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** Reads all items of an outbox with the importer of Mastodon exports. */
export const readOutboxOf = async (activities: readonly unknown[], actor?: unknown) =>
  (await readExport(mastodonFormat, writeFolder(toExportFiles(activities, actor)))) ?? [];

/** Reads the posts of an outbox, keyed by id. */
export async function readPostsOf(
  activities: readonly unknown[],
  actor?: unknown,
): Promise<ReadonlyMap<string | null, ExportedPost>> {
  const items = await readOutboxOf(activities, actor);
  const posts = items.filter((item) => item.kind === 'post');
  return new Map(posts.map((item) => [item.post.id, item]));
}
