import { type ReasonOf, unknownFile } from '../left-out.ts';

const reasons: ReadonlyMap<string, string> = new Map([
  ['likes.json', 'likes are private'],
  ['bookmarks.json', 'bookmarks are private'],
  ['bookmarks.csv', 'bookmarks are private'],
  ['lists.csv', 'lists are private'],
  ['blocked_accounts.csv', 'blocks are private'],
  ['blocked_domains.csv', 'blocks are private'],
  ['muted_accounts.csv', 'mutes are private'],
]);

/** `folder`: folder of `outbox.json` with a trailing `/`. `imported`: paths of the read files. */
export const createReasonOf =
  (folder: string, imported: ReadonlySet<string>): ReasonOf =>
  (path) => {
    // Other files are media, whose import has a report of its own.
    if (imported.has(path) || !/\.(?:json|csv)$/.test(path)) return null;
    return reasons.get(path.slice(folder.length)) ?? unknownFile;
  };
