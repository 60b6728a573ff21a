import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Event from the client. */
export interface EveEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly meta?: { readonly id?: string; readonly index?: number };
}

/** Completed turn. */
export interface EveResult {
  readonly status: string;
  readonly message: string | undefined;
  readonly events: readonly EveEvent[];
}

/** Response to a message, which can be read once, as events or as a result. */
export interface EveResponse extends AsyncIterable<EveEvent> {
  readonly sessionId: string;
  result(): Promise<EveResult>;
  /** Cancels only its own turn. Not available in older releases. */
  cancel?(): Promise<unknown>;
}

/** Session of a client. Older releases lack the optional members. */
export interface EveSession {
  /** State that an application can save, as JSON. */
  readonly state: { readonly sessionId?: string; readonly streamIndex: number };
  send(message: string): Promise<EveResponse>;
  cancel?(): Promise<unknown>;
  reset?(): Promise<unknown>;
  snapshot?(): Promise<{ readonly events: readonly EveEvent[] }>;
  stream(options: { readonly startIndex: number }): AsyncIterable<EveEvent>;
}

/** Session with the response to its first message. */
export interface StartedEve {
  readonly session: EveSession;
  readonly response: EveResponse;
}

/** Result of `new Client(…)`: `session()` up to 0.30.8, `sessions` from 0.31.0. */
interface PublishedClient {
  health(): Promise<unknown>;
  session?(state?: EveSession['state']): EveSession;
  readonly sessions?: {
    create(input: { readonly message: string }): Promise<StartedEve>;
    attach(id: string, state: EveSession['state']): EveSession;
  };
}

/** Published client with a common interface for all releases. */
export interface Eve {
  /** Whether the client stores a continuation token (`eve-T` in the protocol) and not only the id. */
  readonly keepsToken: boolean;
  health(): Promise<unknown>;
  start(message: string): Promise<StartedEve>;
  /** Returns the session for a saved state. */
  resume(state: EveSession['state']): EveSession;
}

/**
 * Loads `eve/client` of an installed package and connects it.
 *
 * @param folder Folder with `node_modules`.
 * @param name Name of the package in that folder.
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
