import { systemClock, toIsoSeconds } from '../lib/clock.ts';
import { isMissing } from '../lib/files/private-files.ts';
import { errorCodeOf, UnusableFileError } from '../lib/files/sqlite.ts';
import { Problem } from '../lib/problem.ts';
import { systemRandom } from '../lib/random.ts';
import type { Engine } from '../lib/redis/engine.ts';
import {
  describeEngineError,
  EngineError,
  UnusableEngineError,
} from '../lib/redis/engine-error.ts';
import { toSessionsPath } from '../server/wiring/sessions.ts';
import { type SessionEvent, sessionEvent } from '../sessions/events.ts';
import { createSessionIds, isSessionId } from '../sessions/ids.ts';
import type { SessionStore, StampEvent } from '../sessions/store/session-store.ts';
import { openSqliteSessions } from '../sessions/store/sqlite-store.ts';
import type { SessionRecord } from '../sessions/store/state.ts';
import {
  type CommandBody,
  type CommandContext,
  CommandError,
  createListing,
  type Run,
  UsageError,
  withOptions,
  withSubcommands,
} from './command.ts';
import { explainOpenError } from './output/explain.ts';
import { type Columns, toJsonLines, toTable } from './output/output.ts';
import { openCommandEngine, withStore } from './stores.ts';

export const sessionsCommand: CommandBody = {
  exits: 'Exit code: 0 success, 1 no such session, 2 bad usage, 3 session file unusable.',
  ...withSubcommands('sessions', {
    list: createListing('session', 'Lists the sessions.', (isJson) =>
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
      about: 'Prints the questions and answers of a session.',
      ...withOptions(
        { json: { type: 'boolean', about: 'Prints a line of JSON for each event.' } },
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
      about: 'Deletes a session permanently. Later requests for it return 410.',
      ...withOptions({}, (_, positionals) => {
        const id = toSessionId(positionals);
        return withSessions(async (store, { stderr }) => {
          const isRemoved = await store.purge(id, systemClock.now());
          if (isRemoved) stderr.write('perch: Deleted the session.\n');
          return isRemoved;
        });
      }),
    },
  }),
};

function toSessionId([id, ...more]: readonly string[]): string {
  if (id !== undefined && more.length === 0 && isSessionId(id)) return id;
  throw new UsageError('Give one session ID (ses_…). `perch sessions list` shows the IDs.');
}

function withSessions(
  act: (store: SessionStore, context: CommandContext) => Promise<boolean>,
): Run {
  return (context) => {
    const place = describeSessionPlace(context);
    const explain = (error: unknown) => {
      if (/^E(?:ACCES|NOTDIR)$/.test(errorCodeOf(error) ?? '')) {
        return explainOpenError(error, context.config);
      }
      if (!isStoreFault(error)) return null;
      const { cause } = error;
      const reason = cause instanceof EngineError ? describeEngineError(cause) : error.message;
      return `The sessions cannot be read. ${reason}\n${place}`;
    };
    return withStore(
      () => openStore(context),
      explain,
      async (store) => {
        if (await act(store, context)) return;
        const fault = 'There is no session with this ID. `perch sessions list` lists the sessions.';
        throw new CommandError('notFound', fault);
      },
    );
  };
}

/** Returns a sentence. @throws UsageError if sessions are stored only in memory */
export function describeSessionPlace(context: CommandContext): string {
  if (context.config.PERCH_REDIS_URL !== undefined) {
    return 'The sessions are in the shared engine at PERCH_REDIS_URL.';
  }
  return `The sessions are in ${sessionsFileOf(context)}.`;
}

function sessionsFileOf({ config }: CommandContext): string {
  const path = toSessionsPath(config);
  if (path !== ':memory:') return path;
  throw new UsageError(
    'Sessions are stored in the memory of the server. Set PERCH_DATA_DIR to a folder and PERCH_SESSION_STORE to file.',
  );
}

async function openStore(context: CommandContext): Promise<SessionStore> {
  const ids = createSessionIds(systemClock, systemRandom);
  const stamp = (index: number) => ({ id: ids.event(), atMs: systemClock.now(), index });
  const engine = await openCommandEngine(context.config);
  if (engine !== null) return openOnEngine(engine, stamp);
  const path = sessionsFileOf(context);
  if (isMissing(path)) return openSqliteSessions({ path: ':memory:', stamp });
  return openSqliteSessions({ path, stamp, mustExist: true });
}

async function openOnEngine(engine: Engine, stamp: StampEvent): Promise<SessionStore> {
  const { openSharedSessions } = await import('../sessions/store/shared/shared-store.ts');
  const basics = { engine, stamp, clock: systemClock, random: systemRandom };
  const store = openSharedSessions({ ...basics, replicas: 0, onFault: () => {} });
  const close = async () => {
    await store.close();
    engine.close();
  };
  return { ...store, close };
}

function isStoreFault(error: unknown): error is Error {
  if (error instanceof Problem || error instanceof UnusableFileError) return true;
  if (error instanceof UnusableEngineError) return true;
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

async function* readLines(store: SessionStore, id: string): AsyncGenerator<string> {
  for (let from = 0; ; ) {
    const events = await store.readEvents(id, from);
    const last = events.at(-1);
    if (last === undefined) return;
    for (const { line } of events) yield `${line}\n`;
    from = last.index + 1;
  }
}

async function* toTranscript(store: SessionStore, record: SessionRecord): AsyncGenerator<string> {
  const { id, state, accepted, createdMs, activeMs } = record;
  const times = `started ${toIsoSeconds(createdMs)}, last active ${toIsoSeconds(activeMs)}`;
  yield `${id}: ${state}, ${accepted} ${accepted === 1 ? 'turn' : 'turns'}, ${times}\n`;
  for await (const line of readLines(store, id)) {
    yield renderEvent(sessionEvent.parse(JSON.parse(line)));
  }
  for (const { sequence, isBegun } of record.pending) {
    const text = isBegun ? undefined : await store.readText(id, sequence);
    if (text !== undefined) yield `\n${quote(text)}\n\n(waiting)\n`;
  }
}

function renderEvent(event: SessionEvent): string {
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
