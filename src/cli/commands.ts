import type { CommandBody, CommandSummary } from './command.ts';

/** A command that is loaded when it is called, because most of them need much of Perch. */
interface CommandEntry extends CommandSummary {
  load(): Promise<CommandBody>;
}

/** The commands by name, in the order of the help. */
export const commands: Readonly<Record<string, CommandEntry>> = {
  serve: {
    usage: 'serve [--port PORT] [--host HOST]',
    about:
      'Serves until SIGTERM or SIGINT. Settings are environment variables; see docs/configuration.md.',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  read: {
    usage: 'read URL | @HANDLE | @HANDLE/followers | - … [options]',
    about: 'Prints posts, profiles with their posts, lists of accounts, and searches, as Markdown.',
    load: async () => (await import('./read.ts')).readCommand,
  },
  search: {
    usage: 'search QUERY [options]',
    about: 'Prints what a search finds, as Markdown; with --json a line for each post or account.',
    load: async () => (await import('./search.ts')).searchCommand,
  },
  mcp: {
    usage: 'mcp',
    about: 'Serves MCP on standard input and output, for a client that starts it.',
    load: async () => (await import('./mcp.ts')).mcpCommand,
  },
  ask: {
    usage: 'ask QUESTION [options]',
    about: 'Answers a question from docs or code, with citations.',
    load: async () => (await import('./ask.ts')).askCommand,
  },
  keys: {
    usage: 'keys create | list | change | disable | enable | rotate | delete',
    about: 'Makes and manages the keys of callers. A change holds from the next request on.',
    load: async () => (await import('./keys.ts')).keysCommand,
  },
  sessions: {
    usage: 'sessions list | show | remove',
    about:
      'Shows and removes the sessions of the data directory. An ID lets others read its session: keep it to yourself.',
    load: async () => (await import('./sessions.ts')).sessionsCommand,
  },
  archive: {
    usage: 'archive import | list | remove | export',
    about:
      'Imports exports of accounts into the archive, and shows, exports and removes what it holds.',
    load: async () => (await import('./archive.ts')).archiveCommand,
  },
};
