import type { BareBody, Command, CommandBody, CommandSummary } from './command.ts';

/** Command that is imported on first use, because importing all would slow down the start. */
type CommandEntry = CommandSummary & { load(): Promise<BareBody | CommandBody> };

/** Commands by name, in the order in which `perch --help` lists them. */
export const commands: Readonly<Record<string, CommandEntry>> = {
  serve: {
    usage: 'serve [--port PORT] [--host HOST]',
    about:
      'Runs the server until SIGTERM or SIGINT. Environment variables configure it; see docs/configuration.md.',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  read: {
    usage: 'read INPUT… [options]',
    about: 'Prints posts, profiles with their posts, follower lists or search results as Markdown.',
    load: async () => (await import('./read.ts')).readCommand,
  },
  search: {
    usage: 'search QUERY [options]',
    about:
      'Searches posts or accounts, and prints Markdown, or with --json a line for each result.',
    load: async () => (await import('./read.ts')).searchCommand,
  },
  watch: {
    usage: 'watch HANDLE… | search TEXT… [options]',
    about:
      'Prints each new post of accounts or searches, and can pass it to a command or a webhook.',
    load: async () => (await import('./watch/command.ts')).watchCommand,
  },
  mcp: {
    usage: 'mcp',
    about: 'Runs an MCP server on standard input and output, for MCP clients that start a command.',
    load: async () => (await import('./mcp.ts')).mcpCommand,
  },
  ask: {
    usage: 'ask QUESTION [options]',
    about: 'Answers a question from documentation or source code, with citations.',
    load: async () => (await import('./ask.ts')).askCommand,
  },
  keys: {
    usage: 'keys create | list | change | disable | enable | rotate | delete | copy',
    about: 'Creates and manages the keys of callers. Changes apply from the next request.',
    load: async () => (await import('./keys.ts')).keysCommand,
  },
  sessions: {
    usage: 'sessions list | show | remove',
    about:
      'Lists, prints and deletes sessions. Keep session IDs secret: anyone with an ID can read its session.',
    load: async () => (await import('./sessions.ts')).sessionsCommand,
  },
  archive: {
    usage: 'archive import | list | remove | export',
    about:
      'Imports data exports of accounts into the archive, and lists, exports and removes imported accounts.',
    load: async () => (await import('./archive.ts')).archiveCommand,
  },
  config: {
    usage: 'config [--json]',
    about: 'Prints all settings with their values and sources. Secrets are masked.',
    load: async () => (await import('./config.ts')).configCommand,
  },
  doctor: {
    usage: 'doctor [--json]',
    about:
      'Checks the settings, the data directory, the port, the base URL and all services that Perch uses.',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  health: {
    usage: 'health',
    about: 'Checks whether the server on this machine is ready, for health checks of containers.',
    load: async () => (await import('./health.ts')).healthCommand,
  },
  backup: {
    usage: 'backup FILE [--force]',
    about: 'Copies all data of Perch into one file, even while a server runs.',
    load: async () => (await import('./backup.ts')).backupCommand,
  },
  restore: {
    usage: 'restore FILE [--check]',
    about:
      'Checks a backup, and replaces the data of a stopped server with the data of the backup.',
    load: async () => (await import('./restore.ts')).restoreCommand,
  },
  completion: {
    usage: 'completion bash | zsh | fish',
    about: 'Prints a script that completes perch commands in a shell.',
    load: async () => (await import('./completion.ts')).createCompletionCommand(loadCommands),
  },
};

export async function loadCommands(): Promise<Readonly<Record<string, Command>>> {
  const loaded = Object.entries(commands).map(
    async ([name, entry]) => [name, { ...entry, ...(await entry.load()) }] as const,
  );
  return Object.fromEntries(await Promise.all(loaded));
}
