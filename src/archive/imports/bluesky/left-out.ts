import type { Blocks } from './blocks.ts';
import { readers } from './read-item.ts';

const embedsOnly = 'Perch reads only the names of those that your posts embed';
const replySettings = 'Perch does not import who may reply to or quote your posts';

/** Reasons by collection. Source: the lexicons at https://github.com/bluesky-social/atproto */
const reasons: ReadonlyMap<string, string> = new Map([
  ['app.bsky.feed.generator', embedsOnly],
  ['app.bsky.feed.like', 'Perch does not import likes'],
  ['app.bsky.feed.postgate', replySettings],
  ['app.bsky.feed.threadgate', replySettings],
  ['app.bsky.graph.block', 'Perch does not import blocks'],
  ['app.bsky.graph.list', embedsOnly],
  ['app.bsky.graph.listblock', 'Perch does not import blocks'],
  ['app.bsky.graph.listitem', 'Perch does not import the members of lists'],
  ['app.bsky.graph.starterpack', embedsOnly],
  ['app.bsky.labeler.service', embedsOnly],
]);

const imported: ReadonlySet<string> = new Set(['app.bsky.actor.profile', ...readers.keys()]);

/** Counts records that are not imported, by collection. Sees only the first 100 collections. */
export const listLeftOut = ({ records }: Blocks) =>
  records.count().flatMap(({ collection: name, count }) => {
    if (imported.has(name)) return [];
    const reason = reasons.get(name) ?? 'Perch does not import this collection';
    return [{ kind: 'left-out', name, count, unit: 'item', reason } as const];
  });
