import { existsSync } from 'node:fs';
import { toSessionsPath } from '../app/open/sessions.ts';
import { systemClock, toIsoSeconds } from '../core/clock.ts';
import { errorCodeOf, UnusableFileError } from '../core/files/sqlite.ts';
import { Problem } from '../core/problem.ts';
import { systemRandom } from '../core/random.ts';
import { type SessionEvent, sessionEvent } from '../sessions/events.ts';
import { createSessionIds, isSessionId } from '../sessions/ids.ts';
import { openSqliteSessions, type SessionStore } from '../sessions/store/sqlite-store.ts';
import type { SessionRecord } from '../sessions/store/state.ts';
import { choosing, listing, taking } from './arguments.ts';
import {
  type CommandBody,
  type CommandContext,
  CommandError,
  exitCodes,
  type Run,
  UsageError,
} from './command.ts';
import { type Columns, toJsonLines, toTable } from './output/table.ts';
import { withStore } from './with-store.ts';

/** `perch sessions`: the sessions of the folder, beside the server or while it runs. */
export const sessionsCommand: CommandBody = {
  exits: 'Exit code: 0 done, 1 no such session, 2 bad usage, 3 file of sessions unusable.',
  ...choosing('sessions', {
    list: listing('session', 'Prints the sessions as a table.', (isJson) =>
      withSessions(async (store, { stdout }) => {
        const records: SessionRecord[] = [];
        for await (const page of store.list('all')) {
          if (isJson) stdout.writeJson(toJsonLines(page.map(toSessionMembers)));
          else records.push(...page);
        }
        if (isJson) return true;
        stdout.write(records.length === 0 ? 'There are no sessions.\n' : toTable(records, columns));
        return true;
      }),
    ),
    show: {
      usage: 'show ID [--json]',
      about: 'Prints what was said in a session.',
      ...taking(
        { json: { type: 'boolean', about: 'Prints its events, each as a line of JSON.' } },
        ({ json = false }, positionals) => {
          const id = toSessionId(positionals);
          return withSessions(async (store, { stdout }) => {
            const found = await store.find(id);
            if (found.kind !== 'known') return false;
            const texts = json ? readLines(store, id) : toTranscript(store, found.record);
            const write = json ? stdout.writeJson : stdout.write;
            for await (const text of texts) write(text);
            return true;
          });
        },
      ),
    },
    remove: {
      usage: 'remove ID',
      about: 'Deletes a session for good; the server answers 410 for it.',
      ...taking({}, (_, positionals) => {
        const id = toSessionId(positionals);
        return withSessions(async (store, { stderr }) => {
          const isRemoved = await store.purge(id, systemClock.now());
          if (isRemoved) stderr.write('perch: the session is deleted\n');
          return isRemoved;
        });
      }),
    },
  }),
};

function toSessionId([id, ...more]: readonly string[]): string {
  if (id !== undefined && more.length === 0 && isSessionId(id)) return id;
  throw new UsageError('one ID is needed, as `perch sessions list` shows it: ses_…');
}

/** Runs `act` with the open store; it returns false where there is no such session. */
function withSessions(
  act: (store: SessionStore, context: CommandContext) => Promise<boolean>,
): Run {
  return (context) => {
    const path = sessionsFileOf(context);
    const explain = (error: unknown) =>
      isStoreFault(error)
        ? `the sessions cannot be read: ${error.message}\nThe file is ${path}.`
        : null;
    return withStore(
      () => openStore(path),
      explain,
      async (store) => {
        if (await act(store, context)) return exitCodes.ok;
        const fault = 'there is no session with this ID; `perch sessions list` shows them';
        throw new CommandError('notFound', fault);
      },
    );
  };
}

/** Returns the path of the file of sessions. @throws UsageError where they are kept in memory */
export function sessionsFileOf({ config }: CommandContext): string {
  const path = toSessionsPath(config);
  if (path !== ':memory:') return path;
  throw new UsageError('sessions are kept in memory here; only the server itself has them');
}

/** Where there is no file yet, an empty store answers; none is made, because nobody asked for one. */
function openStore(path: string): SessionStore {
  const ids = createSessionIds(systemClock, systemRandom);
  const stamp = (index: number) => ({ id: ids.event(), atMs: systemClock.now(), index });
  if (!existsSync(path)) return openSqliteSessions({ path: ':memory:', stamp });
  return openSqliteSessions({ path, stamp, mustExist: true });
}

function isStoreFault(error: unknown): error is Error {
  if (error instanceof Problem || error instanceof UnusableFileError) return true;
  return error instanceof Error && errorCodeOf(error)?.startsWith('SQLITE_') === true;
}

const columns: Columns<SessionRecord> = {
  ID: ({ id }) => id,
  STATE: ({ state }) => state,
  TURNS: ({ accepted }) => String(accepted),
  STARTED: ({ createdMs }) => toIsoSeconds(createdMs),
  'LAST ACTIVE': ({ activeMs }) => toIsoSeconds(activeMs),
};

function toSessionMembers(record: SessionRecord) {
  return {
    id: record.id,
    state: record.state,
    turns: record.accepted,
    waiting: record.pending.length,
    events: record.events,
    created_at: toIsoSeconds(record.createdMs),
    last_active_at: toIsoSeconds(record.activeMs),
    ended_at: record.endedMs === null ? null : toIsoSeconds(record.endedMs),
  };
}

/** Reads all lines of a session, each with its line feed, piece by piece. */
async function* readLines(store: SessionStore, id: string): AsyncGenerator<string> {
  for (let from = 0; ; ) {
    const events = await store.readEvents(id, from);
    const last = events.at(-1);
    if (last === undefined) return;
    for (const { line } of events) yield `${line}\n`;
    from = last.index + 1;
  }
}

/** Yields what was said in a session, for people: each question with its answer, as it is read. */
async function* toTranscript(store: SessionStore, record: SessionRecord): AsyncGenerator<string> {
  const { id, state, accepted, createdMs, activeMs } = record;
  const times = `started ${toIsoSeconds(createdMs)}, last active ${toIsoSeconds(activeMs)}`;
  yield `${id}: ${state}, ${accepted} ${accepted === 1 ? 'turn' : 'turns'}, ${times}\n`;
  for await (const line of readLines(store, id)) {
    yield tellEvent(sessionEvent.parse(JSON.parse(line)));
  }
  for (const { state: fate, text } of await store.readMessages(id)) {
    if (fate === 'queued') yield `\n${quote(text)}\n\n(waits)\n`;
  }
}

function tellEvent(event: SessionEvent): string {
  switch (event.type) {
    case 'message.received':
      return `\n${quote(event.data.message)}\n`;
    case 'message.completed':
      return `\n${event.data.message}\n`;
    case 'turn.cancelled':
      return '\n(cancelled)\n';
    case 'session.completed':
      return `\n(ended: ${event.data.reason})\n`;
    case 'session.failed':
      return `\n(failed: ${event.data.code})\n`;
    default:
      return '';
  }
}

function quote(text: string): string {
  return text.replaceAll(/^/gm, '> ');
}
