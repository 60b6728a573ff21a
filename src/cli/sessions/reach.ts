import { readMessage } from '../../sessions/http/requests.ts';
import { createMark } from '../../sessions/http/tokens.ts';
import {
  expiredSession,
  goOnWith,
  refuseOtherOwner,
  startWith,
  unknownSession,
} from '../../sessions/messages.ts';
import type { SessionService } from '../../sessions/service.ts';
import type { SessionRecord } from '../../sessions/store/state.ts';
import type { StreamSink } from '../../sessions/streams/stream-reader.ts';

/** A question that a session has taken. */
export interface Taken {
  readonly sessionId: string;
  /** Stands in every event of its turn. */
  readonly deliveryId: string;
  /** No event of its turn has a lower index. */
  readonly fromIndex: number;
}

/** The sessions cannot be reached; the message is for people. */
export class UnreachableError extends Error {}

/** A way to the sessions of the data directory. Close it with `close()`. */
export interface SessionReach {
  /** Starts a session with a question. @throws Problem */
  start(question: string): Promise<Taken>;
  /** Asks further in a session. @throws Problem */
  goOn(sessionId: string, question: string): Promise<Taken>;
  /**
   * Reads the events of a session from an index on, until nothing is left to answer; rejects where that
   * breaks off. Lines come in pieces, as they are.
   */
  read(
    taken: Pick<Taken, 'sessionId' | 'fromIndex'>,
    onText: (piece: string) => void,
  ): Promise<void>;
  close(): Promise<void>;
}

/** Gives the bearer of whoever may read the server's secret: sessions that they start are theirs. */
export function toOperatorBearer(secret: Buffer): string {
  return createMark(secret, 'operator', 'bearer');
}

/** What a service in this process is reached with. */
export interface OwnReachOptions {
  readonly service: SessionService;
  /** Whether a session is its starter's alone. */
  readonly bindBearer: boolean;
  /** Closes what was opened for the service. */
  close(): Promise<void>;
}

/** Gives the way to a service in this process. */
export function createOwnReach({ service, bindBearer, close }: OwnReachOptions): SessionReach {
  const owner = createMark(service.secret, 'owner', toOperatorBearer(service.secret));
  const toText = (question: string) =>
    readMessage({ message: question }, service.limits.messageBytes).text;
  return {
    start: async (question) => {
      const message = { text: toText(question), owner, client: null, once: null };
      const receipt = await startWith(message, service);
      return { ...receipt, fromIndex: 0 };
    },
    goOn: async (sessionId, question) => {
      const record = await findOwn(sessionId, service);
      if (bindBearer) refuseOtherOwner(record, owner);
      const message = { sessionId, text: toText(question), once: null };
      return { ...(await goOnWith(message, service)), fromIndex: record.events };
    },
    read: async ({ sessionId, fromIndex }, onText) => {
      const request = { sessionId, startIndex: fromIndex, mode: 'automatic' } as const;
      const stream = await service.streams.openStream({ ...request, token: null, client: null });
      if (stream === undefined) throw expiredSession();
      await stream.sendTo(createTextSink(onText));
    },
    close,
  };
}

async function findOwn(sessionId: string, { store }: SessionService): Promise<SessionRecord> {
  const found = await store.find(sessionId);
  if (found.kind === 'known') return found.record;
  throw found.kind === 'purged' ? expiredSession() : unknownSession();
}

/** A stream that ends before the turn does is seen by whoever reads it. */
function createTextSink(onText: (piece: string) => void): StreamSink {
  const decoder = new TextDecoder();
  return {
    isGone: false,
    whenGone: () => {},
    write: async (bytes) => onText(decoder.decode(bytes, { stream: true })),
    end: () => undefined,
    cut: () => undefined,
  };
}
