/** How much is admitted in one pass of the event loop. */
export interface TurnLimits {
  /** Of one client. */
  readonly each: number;
  /** Of all clients; default: no limit. */
  readonly all?: number;
}

/** Lets clients take turns, so that what one of them sends does not delay the others. */
export interface Turns {
  /** Calls `go` at once if the client has a turn left in this pass of the event loop, else in a later one. */
  take(client: string, go: () => void): void;
}

interface Line {
  taken: number;
  readonly waiting: (() => void)[];
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
  const admit = (client: string, line: Line): void => {
    lines.delete(client);
    lines.set(client, line); // behind the clients that still wait
    const going = line.waiting.splice(0, Math.min(each, all - taken));
    line.taken = going.length;
    taken += going.length;
    for (const go of going) go();
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
      if (line.waiting.length > 0 || line.taken >= each || taken >= all) {
        line.waiting.push(go);
        return;
      }
      line.taken += 1;
      taken += 1;
      go();
    },
  };
}
