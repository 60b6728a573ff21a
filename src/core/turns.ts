/** How much is admitted in one pass of the event loop. */
export interface TurnLimits {
  /** Of one client. */
  readonly each: number;
  /** Of all clients; default: no limit. */
  readonly all?: number;
}

/** Lets clients take turns, so that what one of them sends does not delay the others. */
export interface Turns {
  /**
   * Calls `go` at once if the client has a turn left in this pass of the event loop, else in a later one. It returns
   * whether it used the turn: work that nobody waits for any more leaves it to the next.
   */
  take(client: string, go: () => boolean): void;
}

interface Line {
  taken: number;
  readonly waiting: (() => boolean)[];
}

/**
 * Creates turns. Connections have the bound on what waits: nobody waits twice for one request.
 *
 * @param nextPass Calls back in the next pass of the event loop.
 */
export function createTurns(
  { each, all = Number.POSITIVE_INFINITY }: TurnLimits,
  nextPass: (run: () => void) => void = setImmediate,
): Turns {
  const lines = new Map<string, Line>();
  let taken = 0;
  let isPassing = false;
  const comeBack = () => {
    if (isPassing) return;
    isPassing = true;
    nextPass(pass);
  };
  const hasTurn = (line: Line) => line.taken < each && taken < all;
  const use = (line: Line, go: () => boolean): void => {
    if (!go()) return;
    line.taken += 1;
    taken += 1;
  };
  const admit = (client: string, line: Line): void => {
    lines.delete(client);
    lines.set(client, line); // behind the clients that still wait
    line.taken = 0;
    while (hasTurn(line)) {
      const go = line.waiting.shift();
      if (go === undefined) return;
      use(line, go);
    }
  };
  const pass = (): void => {
    isPassing = false;
    taken = 0;
    for (const [client, line] of [...lines]) {
      if (line.waiting.length === 0) lines.delete(client);
      else if (taken < all) admit(client, line);
    }
    if (lines.size > 0) comeBack();
  };
  return {
    take: (client, go) => {
      const line = lines.get(client) ?? { taken: 0, waiting: [] };
      lines.set(client, line);
      comeBack();
      if (line.waiting.length === 0 && hasTurn(line)) use(line, go);
      else line.waiting.push(go);
    },
  };
}

/** A pass that took no longer is short, in milliseconds. */
const shortMs = 10;

/**
 * Creates the turns of work that can take many milliseconds: one in a pass of the event loop, of one client after the
 * other. After a pass that took long the loop is free for as long, so that such work takes half of its time at most.
 */
export function createHeavyTurns(): Turns {
  return createTurns({ each: 1, all: 1 }, (run) => {
    const begin = performance.now();
    setImmediate(() => {
      const tookMs = performance.now() - begin;
      if (tookMs <= shortMs) run();
      else setTimeout(run, tookMs);
    });
  });
}
