import { posix } from 'node:path';
import { toSlug } from '../../lib/slug.ts';
import { type Corpus, keyOf } from '../corpus/corpus.ts';
import type { FoundPassage } from '../index/passage-index.ts';

type Place = Pick<FoundPassage, 'corpus' | 'path'>;

/** Paths, URLs and links of the files in corpora (sets of documents), as answers show them. */
export type Addresses = ReturnType<typeof createAddresses>;

export function createAddresses(corpora: readonly Corpus[]) {
  const byKey = new Map(corpora.map((corpus) => [keyOf(corpus), corpus]));
  const isOne = corpora.length < 2;
  const toCited = ({ corpus, path }: Place) =>
    isOne ? path : `${byKey.get(corpus)?.name ?? 'corpus'}/${path}`;
  const baseUrlOf = ({ corpus }: Place) => byKey.get(corpus)?.baseUrl;
  const toPage = (place: Place) => {
    const baseUrl = baseUrlOf(place);
    if (place.path.startsWith('..')) return null;
    return baseUrl === undefined ? toCited(place) : toPageUrl(place.path, baseUrl);
  };
  const resolve = (target: string, place: Place): string | null => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return target;
    if (target.startsWith('/')) return (baseUrlOf(place) ?? '') + target;
    const { path, fragment } = splitTarget(target, place.path);
    const page = toPage({ ...place, path });
    return page && page + fragment;
  };
  return {
    /** Prepends the name of the corpus to the path of a file if there are several corpora. */
    toCited,
    /** Removes the name of the corpus from a cited path. */
    toPath: (cited: string) => (isOne ? cited : cited.slice(cited.indexOf('/') + 1)),
    /** Returns the base URL for the examples in a file; `undefined` if they stay as they are. */
    baseUrlOf,
    /** Returns the URL of a section; `null` if this server has no page with the section. */
    toUrl: (place: Place, heading: string): string | null => {
      const baseUrl = baseUrlOf(place);
      const page = baseUrl === undefined ? null : toPageUrl(place.path, baseUrl);
      return page === null || heading === '' ? page : `${page}#${toSlug(heading)}`;
    },
    /** Resolves relative links to URLs of this server or corpus paths, otherwise to plain text. */
    resolveLinks: (markdown: string, place: Place): string =>
      markdown.replaceAll(codeOrLink, (whole, label?: string, target = '') => {
        if (label === undefined) return whole;
        const resolved = resolve(target, place);
        return resolved === null ? label : `[${label}](${resolved})`;
      }),
  };
}

const codeOrLink = /``[^`]{1,500}``|`[^`]{1,500}`|\[([^[\]]{1,500})\]\(([^()\s]{1,500})\)/g;

function toPageUrl(path: string, baseUrl: string): string | null {
  const [, name] = /^docs\/([\w-]+)\.md$/.exec(path) ?? [];
  return name === undefined ? null : `${baseUrl}/docs/${name}`;
}

function splitTarget(target: string, from: string) {
  const [, file = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(target) ?? [];
  return { path: file === '' ? from : posix.join(posix.dirname(from), file), fragment };
}
