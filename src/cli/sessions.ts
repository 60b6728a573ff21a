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
import { chooseByName, parseCommandArgs } from './arguments.ts';
import {
  type Action,
  type CommandBody,
  type CommandContext,
  type CommandOptions,
  type ExitCode,
  exitCodes,
  type Run,
  UsageError,
} from './command.ts';
import { toTable } from './output/table.ts';

/** What is done with the open store; false where there is no such session. */
type Act = (store: SessionStore, context: CommandContext) => Promise<boolean>;

const listOptions = {
  json: { type: 'boolean', about: 'Prints a line of JSON for each session.' },
} as const satisfies CommandOptions;

const showOptions = {
  json: { type: 'boolean', about: 'Prints its events, each as a line of JSON.' },
} as const satisfies CommandOptions;

const subcommands: Readonly<Record<string, Action>> = {
  list: {
    usage: 'list [--json]',
    about: 'Prints the sessions as a table.',
    options: listOptions,
    plan: (args) => withSessions(planList(args)),
  },
  show: {
    usage: 'show ID [--json]',
    about: 'Prints what was said in a session.',
    options: showOptions,
    plan: (args) => withSessions(planShow(args)),
  },
  remove: {
    usage: 'remove ID',
    about: 'Deletes a session for good; the server answers 410 for it.',
    plan: (args) => withSessions(planRemove(args)),
  },
};

/** `perch sessions`: the sessions of the folder, beside the server or while it runs. */
export const sessionsCommand: CommandBody = {
  exits: 'Exit code: 0 done, 1 no such session, 2 bad usage, 3 file of sessions unusable.',
  subcommands,
  plan: ([name = '', ...args]) =>
    chooseByName(subcommands, name, 'sessions does one of these').plan(args),
};

function planList(args: readonly string[]): Act {
  const { values, positionals } = parseCommandArgs(args, listOptions);
  if (positionals.length > 0) throw new UsageError('list takes no arguments');
  return async (store, { stdout }) => {
    const records: SessionRecord[] = [];
    for await (const page of store.list('all')) {
      if (values.json === true) {
        const lines = page.map((record) => `${JSON.stringify(toSessionMembers(record))}\n`);
        stdout.writeJson(lines.join(''));
      } else records.push(...page);
    }
    if (values.json !== true) stdout.write(toSessionTable(records));
    return true;
  };
}

function planShow(args: readonly string[]): Act {
  const { values, positionals } = parseCommandArgs(args, showOptions);
  const id = toSessionId(positionals);
  return async (store, { stdout }) => {
    const found = await store.find(id);
    if (found.kind !== 'known') return false;
    const isJson = values.json === true;
    const texts = isJson ? readLines(store, id) : toTranscript(store, found.record);
    const write = isJson ? stdout.writeJson : stdout.write;
    for await (const text of texts) write(text);
    return true;
  };
}

function planRemove(args: readonly string[]): Act {
  const id = toSessionId(parseCommandArgs(args, {}).positionals);
  return async (store, { stderr }) => {
    if (!(await store.purge(id, systemClock.now()))) return false;
    stderr.write('perch: the session is deleted\n');
    return true;
  };
}

function toSessionId(positionals: readonly string[]): string {
  const [id, ...more] = positionals;
  if (id !== undefined && more.length === 0 && isSessionId(id)) return id;
  throw new UsageError('one ID is needed, as `perch sessions list` shows it: ses_…');
}

function withSessions(act: Act): Run {
  return async ({ config, ...io }) => {
    const path = toSessionsPath(config);
    if (path === ':memory:') {
      throw new UsageError('sessions are kept in memory here; only the server itself has them');
    }
    let store: SessionStore | null = null;
    try {
      store = openStore(path);
      if (await act(store, { config, ...io })) return exitCodes.ok;
      io.stderr.write(
        'perch: there is no session with this ID; `perch sessions list` shows them\n',
      );
      return exitCodes.notFound;
    } catch (error) {
      return explainFault(error, path, io);
    } finally {
      store?.close();
    }
  };
}

/** @throws the error itself where it is no fault of the store */
function explainFault(
  error: unknown,
  path: string,
  { stderr }: Pick<CommandContext, 'stderr'>,
): ExitCode {
  if (!isStoreFault(error)) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  stderr.write(`perch: the sessions cannot be read: ${reason}\nThe file is ${path}.\n`);
  return exitCodes.upstream;
}

/** Where there is no file yet, an empty store answers; none is made, because nobody asked for one. */
function openStore(path: string): SessionStore {
  const ids = createSessionIds(systemClock, systemRandom);
  const stamp = (index: number) => ({ id: ids.event(), atMs: systemClock.now(), index });
  if (!existsSync(path)) return openSqliteSessions({ path: ':memory:', stamp });
  return openSqliteSessions({ path, stamp, mustExist: true });
}

function isStoreFault(error: unknown): boolean {
  if (error instanceof Problem || error instanceof UnusableFileError) return true;
  return errorCodeOf(error)?.startsWith('SQLITE_') === true;
}

const heads = ['ID', 'STATE', 'TURNS', 'STARTED', 'LAST ACTIVE'];

/** Gives sessions as a table for people, one line for each. */
function toSessionTable(records: readonly SessionRecord[]): string {
  if (records.length === 0) return 'There are no sessions.\n';
  return toTable(heads, records.map(toCells));
}

function toCells({ id, state, accepted, createdMs, activeMs }: SessionRecord): readonly string[] {
  return [id, state, String(accepted), toIsoSeconds(createdMs), toIsoSeconds(activeMs)];
}

/** Gives a session as an object for scripts. */
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

/** Gives what was said in a session, for people: each question with its answer, as it is read. */
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
