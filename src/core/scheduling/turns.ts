import type { Loop } from './loop.ts';
import { createSlices, type Slices } from './slices.ts';

/** Limits on what one pass of the event loop admits. */
export interface TurnLimits {
  /** Of one client. */
  readonly each: number;
  /** Of all clients; default: no limit. */
  readonly all?: number;
  /** Target length of a pass in milliseconds. A longer pass halves the number admitted. Default: no target. */
  readonly ms?: number;
}

/** Lets clients take turns, so that what one of them sends does not delay the others. */
export interface Turns {
  /**
   * Calls `go` immediately if the client has a turn left in this pass of the event loop, otherwise in a later pass.
   * `go` returns whether it used the turn; `false` passes the turn to the next waiter.
   */
  take(client: string, go: () => boolean): void;
}

interface Line {
  taken: number;
  readonly waiting: (() => boolean)[];
}

/** Creates turns. The number of connections bounds the waiters. */
export function createTurns(
  { each, all = Number.POSITIVE_INFINITY, ms = Number.POSITIVE_INFINITY }: TurnLimits,
  { nextPass }: Loop,
): Turns {
  const lines = new Map<string, Line>();
  let taken = 0;
  let isPassing = false;
  let most = all;
  const comeBack = () => {
    if (isPassing || lines.size === 0) return;
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
  const pass = (lengthMs: number): void => {
    isPassing = false;
    most = adapt(taken, lengthMs);
    taken = 0;
    for (const [client, { waiting }] of lines) if (waiting.length === 0) lines.delete(client);
    comeBack();
    for (const [client, line] of [...lines]) if (taken < most) admit(client, line);
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

/** Waits for a turn of a client, and returns what `isHere` returns then; `false` leaves the turn to the next waiter. */
export function waitForTurn(turns: Turns, client: string, isHere: () => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    turns.take(client, () => {
      const here = isHere();
      resolve(here);
      return here;
    });
  });
}

/** Creates the slices of a client's work; each takes a turn. */
export const sliceByTurns = (turns: Turns, client: string): Slices =>
  createSlices(() => waitForTurn(turns, client, () => true));

/** Maximum length in milliseconds of a pass that needs no pause after it. */
const shortMs = 10;

/**
 * Creates turns for long work. Each pass of the event loop admits one piece, and clients alternate. After a long pass,
 * the next piece waits for twice its length.
 */
export function createHeavyTurns(loop: Loop): Turns {
  const nextPass: Loop['nextPass'] = (run) =>
    loop.nextPass((lengthMs) => {
      if (lengthMs <= shortMs) run(lengthMs);
      else setTimeout(run, 2 * lengthMs, lengthMs);
    });
  return createTurns({ each: 1, all: 1 }, { nextPass });
}
