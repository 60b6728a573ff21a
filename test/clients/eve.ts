import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** An event, as the client hands it on. */
export interface EveEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly meta?: { readonly id?: string; readonly index?: number };
}

/** A turn, read to its end. */
export interface EveResult {
  readonly status: string;
  readonly message: string | undefined;
  readonly events: readonly EveEvent[];
}

/** What a send gives: it is read once, as events or as a result. */
export interface EveResponse extends AsyncIterable<EveEvent> {
  readonly sessionId: string;
  result(): Promise<EveResult>;
  /** Cancels its turn and no other; not in older releases. */
  cancel?(): Promise<unknown>;
}

/** A conversation. Older releases lack what is optional. */
export interface EveSession {
  /** What an application keeps of it; JSON. */
  readonly state: { readonly sessionId?: string; readonly streamIndex: number };
  send(message: string): Promise<EveResponse>;
  cancel?(): Promise<unknown>;
  reset?(): Promise<unknown>;
  snapshot?(): Promise<{ readonly events: readonly EveEvent[] }>;
  stream(options: { readonly startIndex: number }): AsyncIterable<EveEvent>;
}

/** A conversation and the response to its first message. */
export interface StartedEve {
  readonly session: EveSession;
  readonly response: EveResponse;
}

/** What `new Client(…)` gives: `session()` to 0.30.8, `sessions` from 0.31.0 on. */
interface PublishedClient {
  health(): Promise<unknown>;
  session?(state?: EveSession['state']): EveSession;
  readonly sessions?: {
    create(input: { readonly message: string }): Promise<StartedEve>;
    attach(id: string, state: EveSession['state']): EveSession;
  };
}

/** A published client, in one shape for all releases. */
export interface Eve {
  /** Whether it keeps a continuation token (`eve-T` of the protocol) rather than the id alone. */
  readonly keepsToken: boolean;
  health(): Promise<unknown>;
  start(message: string): Promise<StartedEve>;
  /** Gives the conversation of a state that was kept. */
  resume(state: EveSession['state']): EveSession;
}

/**
 * Loads `eve/client` of an installed package and connects it.
 *
 * @param folder where the package is installed
 * @param name what it is called there
 */
export async function loadEve(
  { folder, name }: { readonly folder: string; readonly name: string },
  host: string,
): Promise<Eve> {
  const entry = createRequire(join(folder, 'index.js')).resolve(`${name}/client`);
  const { Client } = await import(pathToFileURL(entry).href);
  return toEve(new Client({ host, auth: { bearer: 'any-token' } }));
}

function toEve(client: PublishedClient): Eve {
  const health = () => client.health();
  const { sessions } = client;
  if (sessions !== undefined) {
    return {
      keepsToken: false,
      health,
      start: (message) => sessions.create({ message }),
      resume: (state) => sessions.attach(state.sessionId ?? '', state),
    };
  }
  const open = (state?: EveSession['state']): EveSession => {
    if (client.session === undefined) throw new Error('this release has no sessions');
    return client.session(state);
  };
  return {
    keepsToken: true,
    health,
    start: async (message) => {
      const session = open();
      return { session, response: await session.send(message) };
    },
    resume: open,
  };
}
