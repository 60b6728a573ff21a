import { LRUCache } from 'lru-cache';
import { fillToken } from '../events.ts';
import { pieceLength, type StoredEvent } from '../store/log-rows.ts';
import type { SessionStore } from '../store/sqlite-store.ts';

/** A position in the events of a session: an event, and how many bytes of its line were sent. */
type Position = Readonly<{ index: number; offset: number }>;

/** A piece of a stream as it is written, and the position after it. */
type Piece = Readonly<{ bytes: Buffer; next: Position }>;

/** The place of a piece, which ends before the event `untilIndex`; and the token that its reader is told, if any. */
interface Place {
  readonly sessionId: string;
  readonly from: Position;
  readonly untilIndex: number;
  readonly token: string | null;
}

/** Maximum number of bytes of all pieces in memory. */
const keptBytes = 4_194_304;

type Source = Pick<SessionStore, 'readEvents' | 'readPart'>;

const lineEnd = Buffer.from('\n');

/** Creates the reading of recorded events in pieces, which never change: they stay in memory, and readers share looks. */
export function createPieces(source: Source) {
  const kept = new LRUCache<string, Piece>({
    maxSize: keptBytes,
    sizeCalculation: ({ bytes }, key) => bytes.length + key.length,
  });
  const underWay = new Map<string, Promise<Piece | null>>();
  const read = async (place: Place, key: string): Promise<Piece | null> => {
    try {
      const piece = await readPiece(place, source);
      if (piece !== null) kept.set(key, piece);
      return piece;
    } finally {
      underWay.delete(key);
    }
  };
  return {
    /** Resolves to `null` if nothing is recorded there. Rejects if the store cannot be read. */
    read: async (place: Place): Promise<Piece | null> => {
      const { sessionId, from, untilIndex, token } = place;
      const key = `${sessionId} ${from.index} ${from.offset} ${untilIndex} ${token ?? ''}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const reading = underWay.get(key) ?? read(place, key);
      underWay.set(key, reading);
      return reading;
    },
    forget: (sessionId: string): void => {
      for (const key of kept.keys()) if (key.startsWith(`${sessionId} `)) kept.delete(key);
    },
  };
}

async function readPiece({ sessionId, from, untilIndex, token }: Place, source: Source) {
  const { index, offset } = from;
  const part = await source.readPart(sessionId, from);
  if (part !== undefined) {
    const { bytes, isLast } = part;
    if (!isLast) return { bytes, next: { index, offset: offset + bytes.length } };
    return { bytes: Buffer.concat([bytes, lineEnd]), next: { index: index + 1, offset: 0 } };
  }
  const events = await source.readEvents(sessionId, index);
  const wanted = events.filter((event) => event.index < untilIndex);
  return wanted.length === 0 ? null : toPiece(wanted, token);
}

/** Returns a piece of whole events, at least one, as many as a piece may have. */
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
