import { ProviderError } from '../../platforms/provider-error.ts';
import type { ProviderContext } from '../provider.ts';
import { pickContinuation } from './conversation.ts';
import type { Reading } from './reading.ts';
import { type Branch, readTree } from './tree.ts';

/** What an author added after a post, oldest first. */
export interface Continuation {
  readonly branches: readonly Branch[];
  /** Whether there may be more of it. */
  readonly isCut: boolean;
  /** Whether more of it was asked for and did not come. */
  readonly hasFailed: boolean;
}

/** How far down the chain of one author is asked for: it is long, and narrow. */
export const chainDepth = 20;

/** How often the end of a chain is asked for what follows it. */
const maxFurther = 5;

/** A post, and how far down its thread was asked for. */
interface Above {
  readonly focal: Branch;
  readonly depth: number;
}

/**
 * Gives the author's continuation of a post. Where it reaches as far down as was asked for, its last
 * post is asked for what follows.
 */
export async function readContinuation(
  reading: Reading,
  { focal, depth }: Above,
  context: ProviderContext,
): Promise<Continuation> {
  const branches = [...pickContinuation(focal)];
  let isCut = branches.length >= depth;
  for (let asked = 0; isCut && asked < maxFurther; asked += 1) {
    const last = branches.pop() ?? focal;
    const below = mayGoOn(last) ? await readBelow(reading, last, context) : last;
    branches.push(below ?? last);
    if (below === null) return { branches, isCut, hasFailed: true };
    const further = pickContinuation(below);
    branches.push(...further);
    isCut = further.length >= chainDepth;
  }
  return { branches, isCut, hasFailed: false };
}

function mayGoOn({ payload }: Branch): boolean {
  return payload !== null && payload.replyCount !== 0;
}

/** The thread so far is known, so a failure costs only what follows. */
async function readBelow(
  reading: Reading,
  { payload }: Branch,
  context: ProviderContext,
): Promise<Branch | null> {
  if (payload === null) return null;
  const { did: account, rkey } = payload.uri;
  const reach = { parentHeight: 0, depth: chainDepth };
  try {
    const { focal } = await readTree(reading, { account, rkey, reach }, context);
    return focal.post.type === 'status' ? focal : null;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.kind === 'throttled') context.onThrottled?.(error);
    return null;
  }
}
