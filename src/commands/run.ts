import { homedir } from 'node:os';
import { Readable } from 'node:stream';
import { loadConfig, version } from '../config.ts';
import { redactKeys } from '../core/redact.ts';
import { archiveCommand } from './archive.ts';
import { askCommand } from './ask.ts';
import { type Command, type ExitCode, exitCodes, type Output, UsageError } from './command.ts';
import { defaultDataFolder } from './default-folder.ts';
import { keysCommand } from './keys.ts';
import { mcpCommand } from './mcp.ts';
import { readCommand } from './read.ts';
import { searchCommand } from './search.ts';
import { serveCommand } from './serve.ts';
import { sessionsCommand } from './sessions.ts';

/** Where the command line reads its settings and writes. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: nothing to read. */
  readonly stdin?: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
}

const commands: Readonly<Record<string, Command>> = {
  serve: serveCommand,
  read: readCommand,
  search: searchCommand,
  mcp: mcpCommand,
  ask: askCommand,
  keys: keysCommand,
  sessions: sessionsCommand,
  archive: archiveCommand,
};

/** Runs the command that the arguments name, `serve` where they name none; gives the exit code. */
export async function runCommand(args: readonly string[], io: Surroundings): Promise<ExitCode> {
  const [first = 'serve', ...rest] = args;
  if (first === '--help' || first === '-h' || first === 'help') return tell(io.stdout, help());
  if (first === '--version' || first === '-V') return tell(io.stdout, `perch ${version}\n`);
  const command = Object.hasOwn(commands, first) ? commands[first] : undefined;
  if (command === undefined) {
    io.stderr.write(`perch: there is no command ${JSON.stringify(first)}\n\n${help()}`);
    return exitCodes.usage;
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    return tell(io.stdout, `Usage: perch ${command.usage}\n\n${command.summary}\n`);
  }
  return runConfigured(command, rest, io);
}

async function runConfigured(
  command: Command,
  args: readonly string[],
  io: Surroundings,
): Promise<ExitCode> {
  const folder = defaultDataFolder({ cwd: process.cwd(), home: homedir(), env: io.env });
  const loaded = loadConfig(io.env, folder);
  if (!loaded.ok) {
    const lines = loaded.faults.map((fault) => `  ${fault}\n`).join('');
    io.stderr.write(`perch: the configuration has faults\n${lines}`);
    return exitCodes.usage;
  }
  for (const warning of loaded.warnings) io.stderr.write(`perch: ${warning}\n`);
  try {
    const { stdin = Readable.from([]), stdout, stderr } = io;
    return await command.run(args, { config: loaded.config, stdin, stdout, stderr });
  } catch (error) {
    if (error instanceof UsageError) {
      io.stderr.write(`perch: ${redactKeys(error.message)}\nUsage: perch ${command.usage}\n`);
      return exitCodes.usage;
    }
    // Not 1: scripts read that as “not found”.
    io.stderr.write(`perch: this is a defect: ${error instanceof Error ? error.stack : error}\n`);
    return exitCodes.defect;
  }
}

function tell(output: Output, text: string): ExitCode {
  output.write(text);
  return exitCodes.ok;
}

function help(): string {
  const lines = Object.values(commands).map(
    ({ usage, summary }) => `  perch ${usage}\n      ${summary.split('\n', 1)[0]}\n`,
  );
  return `Usage: perch [command]\n\n${lines.join('')}\n  perch --help, perch --version\n`;
}
