import type { CID } from 'multiformats/cid';
import { z } from 'zod';
import type { Blocks } from './blocks.ts';
import { link } from './car.ts';

/**
 * Node of a Merkle search tree (https://atproto.com/specs/repository#mst-structure). Each entry in
 * `e` links to a record (`v`). Its key is the first `p` bytes of the previous key, followed by `k`.
 * `l` links to the child node before the first entry, `t` to the one after the entry.
 */
const node = z.object({
  l: link.nullable(),
  e: z.array(
    z.object({
      p: z.number().int().min(0),
      k: z.instanceof(Uint8Array),
      v: link,
      t: link.nullable(),
    }),
  ),
});

/** Record in the tree: its path, such as `app.bsky.feed.post/3kabc`, and its CID. */
export interface Leaf {
  readonly kind: 'leaf';
  readonly path: string;
  readonly cid: CID;
}

/** Unreadable part of the tree. `after`: path of the record before it; `null` at the start. */
export interface TreeFault {
  readonly kind: 'fault';
  readonly after: string | null;
  readonly reason: string;
}

type Step = Leaf | { readonly kind: 'branch'; readonly cid: CID };

const maxDepth = 128; // a tree of a million million records has about twenty levels

/** Yields records and unreadable parts in key order. Reads each node only once, even in a cycle. */
export function* walkTree(blocks: Blocks, root: CID): Generator<Leaf | TreeFault> {
  let last: string | null = null;
  for (const found of walkNode(blocks, root, 1)) {
    if (typeof found === 'string') {
      yield { kind: 'fault', after: last, reason: found };
    } else if (last !== null && found.path <= last) {
      yield { kind: 'fault', after: last, reason: `${found.path} is out of order.` };
    } else {
      last = found.path;
      yield found;
    }
  }
}

function* walkNode(blocks: Blocks, cid: CID, depth: number): Generator<Leaf | string> {
  const steps = depth > maxDepth ? 'The tree is too deep.' : readNode(blocks, cid);
  if (typeof steps === 'string') {
    yield steps;
    return;
  }
  for (const step of steps) {
    if (step.kind === 'leaf') yield step;
    else yield* walkNode(blocks, step.cid, depth + 1);
  }
}

const notANode = 'It is not a tree node.';

function readNode(blocks: Blocks, cid: CID): readonly Step[] | string {
  if (!blocks.markVisited(cid)) return 'The tree refers to this node twice.';
  const read = blocks.read(cid, node, notANode);
  if (typeof read === 'string') return read;
  const steps: Step[] = toBranch(read.l);
  let key: Uint8Array = new Uint8Array();
  for (const { p, k, v, t } of read.e) {
    if (p > key.length) return notANode;
    key = Buffer.concat([key.subarray(0, p), k]);
    const path = readPath(key);
    if (path === null) return 'It has an invalid key.';
    steps.push({ kind: 'leaf', path, cid: v }, ...toBranch(t));
  }
  return steps;
}

const toBranch = (cid: CID | null): Step[] => (cid === null ? [] : [{ kind: 'branch', cid }]);

function readPath(key: Uint8Array): string | null {
  if (key.length > 1024) return null;
  const path = Buffer.from(key).toString('latin1');
  return /^[A-Za-z0-9.-]{1,317}\/[A-Za-z0-9._:~-]{1,512}$/.test(path) ? path : null;
}
