import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { NavigationGroup } from './navigation.ts';

/** A page that is there. */
export interface LibraryPage {
  readonly name: string;
  readonly summary: string;
  /** The first heading of the file. */
  readonly title: string;
  /** The file as it is: UTF-8 Markdown. */
  readonly source: string;
  /** The title of its group. */
  readonly group: string;
}

/** Pages that belong together. */
export interface LibraryGroup {
  readonly title: string;
  readonly pages: readonly LibraryPage[];
}

/** The documentation, as it is on the disk. */
export interface Library {
  /** In the order of the navigation, without groups that have no page. */
  readonly groups: readonly LibraryGroup[];
  readonly pages: readonly LibraryPage[];
  readonly find: (name: string) => LibraryPage | undefined;
}

/** What a library is read from. */
export interface LibraryOptions {
  readonly folder: string;
  readonly navigation: readonly NavigationGroup[];
  readonly logger: FastifyBaseLogger;
}

/** Gives a library that is read when it is first asked for, and then kept. */
export function createLibrary(options: LibraryOptions): () => Library {
  let kept: Library | undefined;
  return () => {
    kept ??= readLibrary(options);
    return kept;
  };
}

/** Files that cannot be read are told in one line; the pages that are there are served. */
function readLibrary({ folder, navigation, logger }: LibraryOptions): Library {
  const missing: string[] = [];
  const groups = navigation.map(({ title, pages }) => ({
    title,
    pages: pages.flatMap(({ name, summary }): LibraryPage[] => {
      const source = readPage(join(folder, `${name}.md`));
      if (source === null) missing.push(name);
      return source === null
        ? []
        : [{ name, summary, title: titleOf(source), source, group: title }];
    }),
  }));
  if (missing.length > 0)
    logger.error({ folder, missing }, 'pages of the documentation are missing');
  const pages = groups.flatMap((group) => group.pages);
  const byName = new Map(pages.map((page) => [page.name, page]));
  return {
    groups: groups.filter((group) => group.pages.length > 0),
    pages,
    find: (name) => byName.get(name),
  };
}

function readPage(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // told by the caller, all of them together
  }
}

function titleOf(source: string): string {
  return /^# (.+)$/m.exec(source)?.[1]?.replaceAll('`', '').trim() ?? 'Untitled';
}
