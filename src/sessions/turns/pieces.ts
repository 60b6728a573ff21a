import { fillToken } from '../events.ts';
import {
  type EventPart,
  pieceLength,
  type SessionStore,
  type StoredEvent,
} from '../store/store.ts';

/** A position in the events of a session: an event, and how many bytes of its line were sent. */
export interface Position {
  readonly index: number;
  readonly offset: number;
}

/** A piece of a stream as it is written, and the position after it. */
export interface Piece {
  readonly bytes: Buffer;
  readonly next: Position;
}

/** Makes a piece of whole events, at least one, as many as a piece may have. */
export function toPiece(events: readonly StoredEvent[], token: string | null): Piece {
  const lines: string[] = [];
  let length = 0;
  for (const { line } of events) {
    if (lines.length > 0 && length + line.length > pieceLength) break;
    lines.push(token === null ? line : fillToken(line, token));
    length += line.length;
  }
  const index = (events[0]?.index ?? 0) + lines.length;
  return { bytes: Buffer.from(`${lines.join('\n')}\n`), next: { index, offset: 0 } };
}

/** Makes a piece of a part of an event that is longer than a piece. */
function toPart({ index, offset }: Position, { bytes, isLast }: EventPart): Piece {
  if (!isLast) return { bytes, next: { index, offset: offset + bytes.length } };
  return { bytes: Buffer.concat([bytes, lineEnd]), next: { index: index + 1, offset: 0 } };
}

const lineEnd = Buffer.from('\n');

/** The reading of recorded events. */
export type EventSource = Pick<SessionStore, 'readEvents' | 'readPart'>;

/** Where a reader is that wants a piece, and the token that it is told. */
export interface Place {
  readonly sessionId: string;
  readonly from: Position;
  readonly token: string | null;
}

/**
 * Pieces of recorded events. What is recorded never changes, so a piece that is read a second time is
 * kept for the next readers who come to the same place. Most places are read once.
 */
export interface RecordedPieces {
  /** Null where nothing is recorded there. Rejects where the store cannot be read. */
  piece(place: Place): Promise<Piece | null>;
  /** Lets go of a session that is purged. */
  forget(sessionId: string): void;
}

/** The most bytes of pieces that are kept, of all sessions together. */
const keptBytes = 4_194_304;

/** How many places are remembered that were read once. */
const placesReadOnce = 1024;

/** Returns what a piece of a session is known by. */
export function toPieceKey({ from, token }: Pick<Place, 'from' | 'token'>): string {
  return `${from.index} ${from.offset} ${token ?? ''}`;
}

/** Creates the reading of pieces; those who come at the same time share one look into the store. */
export function createRecordedPieces(source: EventSource): RecordedPieces {
  const kept = createKept();
  const readOnce = new Set<string>();
  const keepIfReadAgain = (key: string, piece: Piece): void => {
    if (readOnce.delete(key)) {
      kept.add(key, piece);
      return;
    }
    readOnce.add(key);
    const [oldest] = readOnce;
    if (readOnce.size > placesReadOnce && oldest !== undefined) readOnce.delete(oldest);
  };
  const underWay = new Map<string, Promise<Piece | null>>();
  const read = async ({ sessionId, from, token }: Place, key: string): Promise<Piece | null> => {
    try {
      const piece = await readPiece({ sessionId, from, token }, source);
      if (piece === null) return null;
      keepIfReadAgain(key, piece);
      return piece;
    } finally {
      underWay.delete(key);
    }
  };
  return {
    piece: async (place) => {
      const key = `${place.sessionId} ${toPieceKey(place)}`;
      const there = kept.get(key);
      if (there !== undefined) return there;
      const reading = underWay.get(key) ?? read(place, key);
      underWay.set(key, reading);
      return reading;
    },
    forget: (sessionId) => kept.dropFrom(`${sessionId} `),
  };
}

async function readPiece(
  { sessionId, from, token }: Place,
  { readEvents, readPart }: EventSource,
): Promise<Piece | null> {
  const part = await readPart(sessionId, from);
  if (part !== undefined) return toPart(from, part);
  const events = await readEvents(sessionId, from.index);
  return events.length === 0 ? null : toPiece(events, token);
}

/** The newest pieces by their keys, as many as there is room for. */
function createKept() {
  const pieces = new Map<string, Piece>();
  let held = 0;
  const drop = (key: string): void => {
    held -= pieces.get(key)?.bytes.length ?? 0;
    pieces.delete(key);
  };
  return {
    get: (key: string) => pieces.get(key),
    add: (key: string, piece: Piece): void => {
      drop(key);
      pieces.set(key, piece);
      held += piece.bytes.length;
      for (const oldest of pieces.keys()) {
        if (held <= keptBytes) break;
        drop(oldest);
      }
    },
    /** Drops those whose keys begin so. */
    dropFrom: (start: string): void => {
      for (const key of pieces.keys()) if (key.startsWith(start)) drop(key);
    },
  };
}
