/** Counts the work in flight, so that a shutdown can wait for it. */
export interface Work {
  /** How much has begun and not ended. */
  readonly inFlight: number;
  /** Counts a piece of work until it has ended, well or not. */
  track<Value>(work: Promise<Value>): Promise<Value>;
}

/** Creates a count of nothing. */
export function createWork(): Work {
  let inFlight = 0;
  return {
    get inFlight() {
      return inFlight;
    },
    track: async (work) => {
      inFlight += 1;
      try {
        return await work;
      } finally {
        inFlight -= 1;
      }
    },
  };
}
