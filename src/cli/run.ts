import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { packagePath } from '../core/files/package-path.ts';
import { redactKeys } from '../core/redact.ts';
import { version } from '../core/version.ts';
import { offerNear } from './arguments.ts';
import {
  type Action,
  type Command,
  type CommandContext,
  type ExitCode,
  exitCodes,
  UsageError,
} from './command.ts';
import { commands } from './commands.ts';
import { renderCommandHelp, renderHelp, usageOf } from './output/help.ts';
import { createOutput, type RawOutput } from './output/output.ts';

/** The environment and the streams of the process, or those of a test. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin?: Readable;
  readonly stdout: RawOutput;
  readonly stderr: RawOutput;
}

/** The same, with outputs that no text can control. */
type Io = Omit<CommandContext, 'config'> & Pick<Surroundings, 'env'>;

async function findCommand(name: string): Promise<Command | undefined> {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  return entry && { ...entry, ...(await entry.load()) };
}

/** Runs the command that the arguments name, `serve` if they name none; returns the exit code. */
export async function runCommand(
  args: readonly string[],
  { env, stdin = Readable.from([]), stdout, stderr }: Surroundings,
): Promise<ExitCode> {
  const io = { env, stdin, stdout: createOutput(stdout), stderr: createOutput(stderr) };
  const [first = 'serve', ...rest] = args;
  if (isHelp(first) || first === 'help') return tellHelp(rest, io);
  if (first === '--version' || first === '-V') {
    io.stdout.write(`perch ${version}\n`);
    return exitCodes.ok;
  }
  // Options without a command are those of `serve`.
  const [name, own] = first.startsWith('-') ? ['serve', args] : [first, rest];
  const command = await findCommand(name);
  if (command === undefined) return refuseCommand(name, io);
  if (own.some(isHelp)) return tellHelp([name, ...own], io);
  return runConfigured(command, own, io);
}

const isHelp = (arg: string) => arg === '--help' || arg === '-h';

function refuseCommand(name: string, { stderr }: Io): ExitCode {
  const fault = `there is no command ${JSON.stringify(name)}${offerNear(name, commands)}`;
  stderr.write(`perch: ${fault}\n\n${renderHelp(Object.values(commands))}`);
  return exitCodes.usage;
}

/** Writes the help of the command and subcommand that arguments begin with, else that of all. */
async function tellHelp(
  [name = '', ...args]: readonly string[],
  { stdout }: Io,
): Promise<ExitCode> {
  const command = await findCommand(name);
  stdout.write(
    command === undefined
      ? renderHelp(Object.values(commands))
      : renderCommandHelp(command, actionOf(command, args)),
  );
  return exitCodes.ok;
}

/** Returns the subcommand that arguments begin with, else the command. */
function actionOf(command: Command, [name = '']: readonly string[]): Action {
  const { subcommands = {} } = command;
  return (Object.hasOwn(subcommands, name) ? subcommands[name] : undefined) ?? command;
}

async function runConfigured(command: Command, args: readonly string[], io: Io): Promise<ExitCode> {
  try {
    const run = command.plan(args);
    const settings = command.settings?.(args) ?? {};
    // The schemas of the settings take a while to load, and bad usage needs none of them.
    const { loadConfig } = await import('../config/config.ts');
    const folder = defaultDataFolder({ cwd: process.cwd(), home: homedir(), env: io.env });
    const loaded = loadConfig({ ...io.env, ...settings }, folder);
    if (!loaded.ok) return refuseConfiguration(loaded.faults, settings, io);
    for (const warning of loaded.warnings) io.stderr.write(`perch: ${warning}\n`);
    return await run({ ...io, config: loaded.config });
  } catch (error) {
    if (error instanceof UsageError) {
      const usage = usageOf(command, actionOf(command, args));
      io.stderr.write(`perch: ${redactKeys(error.message)}\nUsage: perch ${usage}\n`);
      return exitCodes.usage;
    }
    // Not 1: scripts read that as “not found”.
    io.stderr.write(`perch: this is a defect: ${error instanceof Error ? error.stack : error}\n`);
    return exitCodes.defect;
  }
}

/** Writes the faults; that of a setting which an argument set has the name of the option. */
function refuseConfiguration(
  faults: readonly string[],
  settings: Readonly<Record<string, string>>,
  { stderr }: Io,
): ExitCode {
  const lines = faults.map((fault) => {
    const name = /^[A-Z_]+/.exec(fault)?.[0] ?? '';
    const isOption = Object.hasOwn(settings, name);
    return `  ${isOption ? `--${name.toLowerCase()}${fault.slice(name.length)}` : fault}\n`;
  });
  stderr.write(`perch: the configuration has faults\n${lines.join('')}`);
  return exitCodes.usage;
}

interface StartingPlace extends Pick<Surroundings, 'env'> {
  readonly cwd: string;
  readonly home: string;
}

/**
 * Returns the data folder of a command without `PERCH_DATA_DIR`: `./data` in Perch's own checkout and
 * where one is already, else the folder for Perch among the user's data
 * (https://specifications.freedesktop.org/basedir-spec/latest/).
 */
export function defaultDataFolder({ cwd, home, env }: StartingPlace): string {
  const isCheckout = resolve(cwd) === packagePath();
  if (isCheckout || existsSync(join(cwd, 'data/perch.db'))) return './data';
  const { XDG_DATA_HOME: shared = '' } = env;
  // The specification ignores relative paths.
  return join(isAbsolute(shared) ? shared : join(home, '.local/share'), 'perch');
}
