import { PassThrough } from 'node:stream';
import { createPerch } from '../../../clients/typescript/src/index.ts';
import { createTurn, type Turn } from '../../../clients/typescript/src/turns.ts';
import { systemClock } from '../../core/clock.ts';
import { systemRandom } from '../../core/random.ts';
import { readMessage } from '../../sessions/http/requests.ts';
import { createContinuationTokens, keyedHash } from '../../sessions/http/tokens.ts';
import {
  expiredSession,
  refuseOtherOwner,
  sendFirstMessage,
  sendFurtherMessage,
  unknownSession,
} from '../../sessions/messages.ts';
import type { SessionService } from '../../sessions/service.ts';

/** Error for a session service that cannot be reached. The message is written for users. */
export class UnreachableError extends Error {}

/** Client of the session service, in this process or on a server. Callers must call `close`. */
export interface SessionClient {
  /**
   * Asks in a new session if the id is `null`.
   * @throws Problem or PerchError if the service refuses the question or cannot be reached
   */
  ask(question: string, sessionId: string | null): Promise<Turn>;
  close(): Promise<void>;
}

function toOperatorBearer(secret: Buffer): string {
  return keyedHash(secret, 'operator', 'bearer');
}

interface LocalClientOptions extends Pick<SessionClient, 'close'> {
  readonly service: SessionService;
  /** Whether a session accepts only messages with the same bearer token as its first message. */
  readonly bindBearer: boolean;
}

export function createLocalClient({
  service,
  bindBearer,
  close,
}: LocalClientOptions): SessionClient {
  const owner = keyedHash(service.secret, 'owner', toOperatorBearer(service.secret));
  const toText = (message: string) => readMessage({ message }, service.limits.messageBytes).text;
  const start = async (question: string) => {
    const message = { text: toText(question), owner, client: null, idempotency: null };
    return { ...(await sendFirstMessage(message, service)), startIndex: 0 };
  };
  const followUp = async (sessionId: string, question: string) => {
    const found = await service.store.find(sessionId);
    if (found.kind === 'unknown') throw unknownSession();
    if (found.kind === 'purged') throw expiredSession();
    if (bindBearer) refuseOtherOwner(found.record, owner);
    const message = { sessionId, text: toText(question), idempotency: null };
    return { ...(await sendFurtherMessage(message, service)), startIndex: found.record.events };
  };
  return {
    ask: async (question, id) => {
      const { sessionId, deliveryId, startIndex } = await (id === null
        ? start(question)
        : followUp(id, question));
      return createTurn({
        session: { id: sessionId, continuationToken: '' },
        deliveryId,
        startIndex,
        open: (from) => openLocalStream(service, sessionId, from),
        clock: systemClock,
        random: systemRandom.fraction,
        retries: 4,
      });
    },
    close,
  };
}

/** Opens the event stream. @throws Problem if the session was deleted */
async function openLocalStream(service: SessionService, sessionId: string, startIndex: number) {
  const request = { sessionId, startIndex, mode: 'automatic', token: null, client: null } as const;
  const stream = await service.streams.openStream(request);
  if (stream === undefined) throw expiredSession();
  const parts = new PassThrough();
  void stream.sendTo(parts); // reports failures itself, and then ends the stream
  return { tailIndex: stream.record.events - 1, parts };
}

/** Creates a client that continues every session not bound to another client's bearer token. */
export function createRemoteClient(url: string, secret: Buffer): SessionClient {
  const tokens = createContinuationTokens(secret);
  const bearer = toOperatorBearer(secret);
  const { sessions } = createPerch({ baseUrl: url, sessionsUrl: url, bearer, retries: 1 });
  return {
    ask: (question, id) => {
      const session = id === null ? undefined : { id, continuationToken: tokens.of(id) };
      return sessions.ask(question, { session });
    },
    close: async () => undefined,
  };
}
