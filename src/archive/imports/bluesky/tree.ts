import type { CID } from 'multiformats/cid';
import { z } from 'zod';
import type { Blocks } from './blocks.ts';
import { link } from './car.ts';

/**
 * Node of the Merkle search tree of the records. `l` refers to the node with the keys before the first entry. Each
 * entry has a key, which shares its first `p` bytes with the key of the previous entry and continues with `k`; the
 * record `v`; and `t`, the node with the keys between this entry and the next one. Source:
 * https://atproto.com/specs/repository#mst-structure
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

/** Path of a record, such as `app.bsky.feed.post/3kabc`, and its CID. */
export interface Leaf {
  readonly kind: 'leaf';
  readonly path: string;
  readonly cid: CID;
}

/** Unreadable part of the tree. `after` is the path of the last record before it; `null` at the start of the tree. */
interface TreeFault {
  readonly kind: 'fault';
  readonly after: string | null;
  readonly reason: string;
}

type Step = Leaf | { readonly kind: 'branch'; readonly cid: CID };

const maxDepth = 128; // a tree of a million million records has about twenty levels

/** Yields the records in key order, and unreadable parts. Reads each node once, so cycles end. */
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

/** Yields the records below a node, and a reason for each node that cannot be read. */
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

/** Reads the records and branches of a node in order, or returns the reason why it cannot be read. */
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

/** Decodes a key of the tree to the path of a record, in ASCII. Returns `null` if the key is invalid. */
function readPath(key: Uint8Array): string | null {
  if (key.length > 1024) return null;
  const path = Buffer.from(key).toString('latin1');
  return /^[A-Za-z0-9.-]{1,317}\/[A-Za-z0-9._:~-]{1,512}$/.test(path) ? path : null;
}
