import type { CID } from 'multiformats/cid';
import { z } from 'zod';
import type { Blocks } from './blocks.ts';
import { link } from './car.ts';

/**
 * A node of the tree that holds the records (a Merkle search tree): `l` leads to the keys before the first entry. Each
 * entry has a key, of which the first `p` bytes are those of the entry before and `k` are the rest, the record `v`,
 * and `t`, which leads to the keys between it and the next entry. Source:
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

/** A record's place: `app.bsky.feed.post/3kabc`. */
export interface Leaf {
  readonly kind: 'leaf';
  readonly path: string;
  readonly cid: CID;
}

/** A part of the tree that could not be read. `after`: the last record before it; null if it begins the tree. */
interface TreeFault {
  readonly kind: 'fault';
  readonly after: string | null;
  readonly why: string;
}

type Step = Leaf | { readonly kind: 'branch'; readonly cid: CID };

/** Keys are spread so that a tree of a million million records has about twenty levels. */
const maxDepth = 128;

/**
 * Yields the records' places in the order of their keys, and the parts that are missing. Each node is read once, so
 * that a tree that leads back into itself ends.
 */
export function* walkTree(blocks: Blocks, root: CID): Generator<Leaf | TreeFault> {
  let last: string | null = null;
  for (const found of walkNode(blocks, root, 1)) {
    if (typeof found === 'string') {
      yield { kind: 'fault', after: last, why: found };
    } else if (last !== null && found.path <= last) {
      yield { kind: 'fault', after: last, why: `${found.path} stands out of order.` };
    } else {
      last = found.path;
      yield found;
    }
  }
}

/** Yields the records' places below a node, and for each node that cannot be read the reason. */
function* walkNode(blocks: Blocks, cid: CID, depth: number): Generator<Leaf | string> {
  const steps = depth > maxDepth ? 'It lies too deep.' : readNode(blocks, cid);
  if (typeof steps === 'string') {
    yield steps;
    return;
  }
  for (const step of steps) {
    if (step.kind === 'leaf') yield step;
    else yield* walkNode(blocks, step.cid, depth + 1);
  }
}

const noNode = 'It is no node of a tree.';

/** Reads what a node leads to, in order, or returns why it cannot be told. */
function readNode(blocks: Blocks, cid: CID): readonly Step[] | string {
  if (!blocks.mark(cid)) return 'The tree leads to it a second time.';
  const read = blocks.read(cid, node, noNode);
  if (typeof read === 'string') return read;
  const steps: Step[] = toBranch(read.l);
  let key: Uint8Array = new Uint8Array();
  for (const { p, k, v, t } of read.e) {
    if (p > key.length) return noNode;
    key = Buffer.concat([key.subarray(0, p), k]);
    const path = readPath(key);
    if (path === null) return 'It has a key that is none.';
    steps.push({ kind: 'leaf', path, cid: v }, ...toBranch(t));
  }
  return steps;
}

function toBranch(cid: CID | null): Step[] {
  return cid === null ? [] : [{ kind: 'branch', cid }];
}

/** Keys are ASCII: a collection and a record key. */
function readPath(key: Uint8Array): string | null {
  if (key.length > 1024) return null;
  const path = Buffer.from(key).toString('latin1');
  return /^[A-Za-z0-9.-]{1,317}\/[A-Za-z0-9._:~-]{1,512}$/.test(path) ? path : null;
}
