/** A turn that waits to be answered. */
export interface WaitingTurn {
  readonly sessionId: string;
  readonly sequence: number;
  /** Sorts in the order of arrival. */
  readonly deliveryId: string;
}

/** The turns that wait, at most one of a session, in the order in which their messages arrived. */
export interface Line {
  readonly length: number;
  join(turn: WaitingTurn): void;
  /** Takes the one that came first. */
  take(): WaitingTurn | undefined;
  leave(sessionId: string): void;
}

/** Creates an empty line. It is as long as there are live sessions at most. */
export function createLine(): Line {
  const turns: WaitingTurn[] = [];
  const sessions = new Set<string>();
  return {
    get length() {
      return turns.length;
    },
    join: (turn) => {
      if (sessions.has(turn.sessionId)) return;
      sessions.add(turn.sessionId);
      const before = turns.findLastIndex(({ deliveryId }) => deliveryId < turn.deliveryId);
      turns.splice(before + 1, 0, turn);
    },
    take: () => {
      const turn = turns.shift();
      if (turn !== undefined) sessions.delete(turn.sessionId);
      return turn;
    },
    leave: (sessionId) => {
      if (!sessions.delete(sessionId)) return;
      const at = turns.findIndex((turn) => turn.sessionId === sessionId);
      turns.splice(at, 1);
    },
  };
}
