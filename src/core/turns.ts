/** How much is admitted in one pass of the event loop. */
export interface TurnLimits {
  /** Of one client. */
  readonly each: number;
  /** Of all clients; default: no limit. */
  readonly all?: number;
  /** Milliseconds that a pass should take: after a longer one half as much is admitted. Default: no limit. */
  readonly ms?: number;
}

/** The event loop, as turns see it. */
export interface Loop {
  /** Calls back in the next pass. */
  nextPass(run: () => void): void;
  /** Returns milliseconds since some moment. */
  now(): number;
}

const loopOfNode: Loop = { nextPass: setImmediate, now: () => performance.now() };

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

/** Creates turns. Connections have the bound on what waits: nobody waits twice for one request. */
export function createTurns(
  { each, all = Number.POSITIVE_INFINITY, ms = Number.POSITIVE_INFINITY }: TurnLimits,
  { nextPass, now }: Loop = loopOfNode,
): Turns {
  const lines = new Map<string, Line>();
  let taken = 0;
  let isPassing = false;
  let beganMs = now();
  let most = all;
  const comeBack = () => {
    if (isPassing) return;
    isPassing = true;
    nextPass(pass);
  };
  const hasTurn = (line: Line) => line.taken < each && taken < most;
  const adapt = (admitted: number, tookMs: number) =>
    tookMs > ms ? Math.max(1, Math.floor(Math.min(most, admitted) / 2)) : Math.min(all, most * 2);
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
    most = adapt(taken, now() - beganMs);
    taken = 0;
    beganMs = now();
    for (const [client, line] of [...lines]) {
      if (line.waiting.length === 0) lines.delete(client);
      else if (taken < most) admit(client, line);
    }
    if (lines.size > 0) comeBack();
  };
  return {
    take: (client, go) => {
      const line = lines.get(client) ?? { taken: 0, waiting: [] };
      lines.set(client, line);
      if (!isPassing) beganMs = now();
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
 * other. After a pass that took long the loop is free for twice as long, so that such work takes a third of its time at most.
 */
export function createHeavyTurns(): Turns {
  const { now } = loopOfNode;
  const nextPass = (run: () => void): void => {
    const beganMs = now();
    setImmediate(() => {
      const tookMs = now() - beganMs;
      if (tookMs <= shortMs) run();
      else setTimeout(run, 2 * tookMs);
    });
  };
  return createTurns({ each: 1, all: 1 }, { now, nextPass });
}
