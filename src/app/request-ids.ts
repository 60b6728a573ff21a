import type { Random } from '../core/random.ts';

/** Generator of request ids, which also counts the requests. */
export type RequestIds = ReturnType<typeof createRequestIds>;

/** Creates a generator of ids: a random prefix for the process and a counter. */
export function createRequestIds(random: Random) {
  const prefix = random.bytes(6).toString('base64url');
  let count = 0;
  return {
    next: (): string => {
      count += 1;
      return `${prefix}-${count.toString(36)}`;
    },
    /** Number of requests since the start of the process. */
    get count() {
      return count;
    },
  };
}
