import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { moveDocExamples } from '../../../lib/http/base-url-of-examples.ts';
import { once } from '../../../lib/once.ts';
import type { NavigationGroup, NavigationPage } from './navigation.ts';

export interface LibraryPage {
  readonly name: string;
  readonly summary: string;
  readonly title: string;
  readonly group: string;
  readonly read: () => string;
}

export interface Library {
  readonly groups: readonly { readonly title: string; readonly pages: readonly LibraryPage[] }[];
  readonly pages: readonly LibraryPage[];
  readonly find: (name: string) => LibraryPage | undefined;
}

interface LibraryOptions {
  readonly folder: string;
  readonly baseUrl: string;
  readonly navigation: readonly NavigationGroup[];
  /** Functions that write pages with a title in the navigation, by name. Default: none. */
  readonly written?: Readonly<Record<string, LibraryPage['read']>>;
  readonly logger: FastifyBaseLogger;
}

/** Creates a function that returns the pages, which the first call reads from disk. */
export const createLibrary = (options: LibraryOptions): (() => Library) =>
  once(() => readLibrary(options));

function readLibrary(options: LibraryOptions): Library {
  const { folder, baseUrl, navigation, written = {}, logger } = options;
  const missing: string[] = [];
  const readPage = ({ name, title }: NavigationPage) => {
    const read = written[name];
    if (title !== undefined) return read && { title, read };
    const path = join(folder, `${name}.md`);
    try {
      const source = moveDocExamples(readFileSync(path, 'utf8'), { path, baseUrl });
      const heading = /^# (.+)$/m.exec(source)?.[1]?.replaceAll('`', '').trim();
      return { title: heading ?? 'Untitled', read: () => source };
    } catch {
      missing.push(name);
      return undefined;
    }
  };
  const groups = navigation.map(({ title: group, pages }) => ({
    title: group,
    pages: pages.flatMap((page): LibraryPage[] => {
      const found = readPage(page);
      return found === undefined ? [] : [{ ...page, group, ...found }];
    }),
  }));
  if (missing.length > 0) {
    logger.error({ folder, missing }, 'Pages of the documentation are missing.');
  }
  const pages = groups.flatMap((group) => group.pages);
  const byName = new Map(pages.map((page) => [page.name, page]));
  return {
    groups: groups.filter((group) => group.pages.length > 0),
    pages,
    find: (name) => byName.get(name),
  };
}
