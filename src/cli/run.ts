import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { packagePath } from '../lib/files/package-path.ts';
import { redactKeys } from '../lib/redact.ts';
import { version } from '../lib/version.ts';
import {
  type ActionHelp,
  type Command,
  type CommandBody,
  type CommandContext,
  type CommandOptions,
  type CommandStreams,
  type CommandSummary,
  type ExitCode,
  exitCodes,
  globalOptions,
  settingsOf,
  suggestName,
  takeGlobalOptions,
  UsageError,
} from './command.ts';
import { commands } from './commands.ts';
import { createOutput, type RawOutput } from './output/output.ts';

interface ProcessIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin?: Readable;
  readonly stdout: RawOutput;
  readonly stderr: RawOutput;
  /** Default: nothing. */
  readonly exit?: CommandStreams['exit'];
}

interface Io extends CommandStreams, Pick<ProcessIo, 'env'> {
  readonly configFile?: string | undefined;
}

async function findCommand(name: string): Promise<Command | undefined> {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  return entry && { ...entry, ...(await entry.load()) };
}

/** Runs the command given by the arguments, by default `serve`, and returns the exit code. */
export async function runCommand(
  args: readonly string[],
  { env, stdin = Readable.from([]), exit = () => undefined, ...io }: ProcessIo,
): Promise<ExitCode> {
  // https://no-color.org
  const options = { isPlain: env.TERM === 'dumb' || (env.NO_COLOR ?? '') !== '' };
  const stdout = createOutput(io.stdout, options);
  const stderr = createOutput(io.stderr, options);
  try {
    const { config: configFile, rest } = takeGlobalOptions(args);
    return await runArguments(rest, { env, stdin, stdout, stderr, exit, configFile });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    stderr.write(`perch: ${redactKeys(error.message)}\nUsage: perch COMMAND --config FILE\n`);
    return exitCodes.usage;
  }
}

async function runArguments(args: readonly string[], io: Io): Promise<ExitCode> {
  const [first = 'serve', ...rest] = args;
  if (isHelp(first) || first === 'help') return printHelp(rest, io);
  if (first === '--version' || first === '-V') {
    io.stdout.write(`perch ${version}\n`);
    return exitCodes.ok;
  }
  // Options without a command belong to `serve`.
  const [name, own] = first.startsWith('-') ? ['serve', args] : [first, rest];
  const command = await findCommand(name);
  if (command === undefined) {
    const fault = `There is no command ${JSON.stringify(name)}.${suggestName(name, commands)}`;
    io.stderr.write(`perch: ${fault}\n\n${renderHelp(Object.values(commands))}`);
    return exitCodes.usage;
  }
  if (own.some(isHelp)) return printHelp([name, ...own], io);
  return runPlanned(command, own, io);
}

const isHelp = (arg: string) => arg === '--help' || arg === '-h';

async function printHelp([name = '', ...args]: readonly string[], { stdout }: Io) {
  const command = await findCommand(name);
  stdout.write(
    command === undefined
      ? renderHelp(Object.values(commands))
      : renderCommandHelp(command, actionOf(command, args)),
  );
  return exitCodes.ok;
}

function actionOf(command: Command, [name = '']: readonly string[]): ActionHelp {
  const { subcommands = {} } = command;
  return (Object.hasOwn(subcommands, name) ? subcommands[name] : undefined) ?? command;
}

async function runPlanned(command: Command, args: readonly string[], io: Io): Promise<ExitCode> {
  try {
    if (!command.isBare) return await runConfigured(command, args, io);
    const { env, configFile, ...streams } = io;
    const run = command.plan(args);
    const sources = { env, configFile, options: settingsOf(command, args) };
    return await run({ ...streams, sources, dataFolder: findDataFolder(env) });
  } catch (error) {
    if (error instanceof UsageError) {
      const usage = usageOf(command, actionOf(command, args));
      io.stderr.write(`perch: ${redactKeys(error.message)}\nUsage: perch ${usage}\n`);
      return exitCodes.usage;
    }
    // The exit code 1 would mean “not found” to scripts.
    const stack = error instanceof Error ? error.stack : error;
    io.stderr.write(
      `perch: This is a bug in Perch. Please report it with this output:\n${stack}\n`,
    );
    return exitCodes.defect;
  }
}

async function runConfigured(
  command: CommandBody,
  args: readonly string[],
  { env, configFile, ...streams }: Io,
): Promise<ExitCode> {
  const run = command.plan(args);
  const options = settingsOf(command, args);
  // Loading the schemas takes a while, so invalid arguments are reported before that.
  const { loadConfig } = await import('../config/config.ts');
  const loaded = loadConfig(env, findDataFolder(env), { options, configFile });
  const { warnings } = loaded;
  for (const warning of warnings) streams.stderr.write(`perch: ${warning}\n`);
  if (loaded.ok) {
    const context = { ...streams, config: loaded.config, settings: loaded.settings, warnings };
    return await runInFolder(command, run, context);
  }
  const lines = loaded.faults.map((fault) => `  ${fault}\n`);
  streams.stderr.write(`perch: The configuration is not valid.\n${lines.join('')}`);
  return exitCodes.usage;
}

/** Locks the data folder, so that no restore can start, and runs the command. */
async function runInFolder(
  command: CommandBody,
  run: ReturnType<CommandBody['plan']>,
  context: CommandContext,
): Promise<ExitCode> {
  const { PERCH_DATA_DIR: path } = context.config;
  const { folder = 'shared' } = command;
  if (folder === 'own' || path === ':memory:') return run(context);
  // Loading SQLite takes a while, so invalid settings are reported before that.
  const { enterFolder } = await import('./backup/data-folder.ts');
  const lock = enterFolder(path, folder, context);
  if (lock === null) return command.lockedExit ?? exitCodes.upstream;
  try {
    return await run(context);
  } finally {
    lock.release();
  }
}

const findDataFolder = (env: ProcessIo['env']) =>
  defaultDataFolder({ cwd: process.cwd(), home: findHome(), env });

function findHome(): string {
  try {
    return homedir();
  } catch {
    return '/'; // container engines set HOME to this folder for such users
  }
}

/**
 * Returns `./data` if `cwd` is a checkout of Perch or contains `data/perch.db`, otherwise `perch`
 * in the user's data directory (https://specifications.freedesktop.org/basedir-spec/latest/).
 */
export function defaultDataFolder({
  cwd,
  home,
  env,
}: Readonly<{ cwd: string; home: string }> & Pick<ProcessIo, 'env'>): string {
  const isCheckout = resolve(cwd) === packagePath();
  if (isCheckout || existsSync(join(cwd, 'data/perch.db'))) return './data';
  const { XDG_DATA_HOME: shared = '' } = env;
  // The specification ignores relative paths.
  return join(isAbsolute(shared) ? shared : join(home, '.local/share'), 'perch');
}

const maxLine = 100;

function renderHelp(commands: Iterable<CommandSummary>): string {
  const lines = [...commands].map(({ usage, about }) => `  perch ${usage}\n      ${about}\n`);
  return `Usage: perch [command] [options]

Without a command, perch runs the server: \`perch\` is the same as \`perch serve\`.

${lines.join('')}
  perch COMMAND --help
      Prints the help of a command.
  perch COMMAND --config FILE
      ${globalOptions.config.about}
  perch --version
      Prints the version.
`;
}

function renderCommandHelp(command: Command, action: ActionHelp = command): string {
  const { subcommands = {} } = action === command ? command : {};
  const listed = Object.values(subcommands).map(({ usage, about }) => `  ${usage}\n      ${about}`);
  const blocks = [
    `Usage: perch ${usageOf(command, action)}`,
    action.details === undefined ? action.about : `${action.about}\n${action.details}`,
    listed.join('\n'),
    listOptions({ ...action.options, ...globalOptions }),
    listed.length === 0 ? '' : `Options: perch ${nameOf(command)} SUBCOMMAND --help`,
    command.exits,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** Returns the usage of a command or of one of its subcommands, without the leading `perch`. */
function usageOf(command: Command, action: ActionHelp): string {
  return action === command ? command.usage : `${nameOf(command)} ${action.usage}`;
}

function nameOf({ usage }: Command): string {
  return usage.split(' ', 1)[0] ?? usage;
}

function listOptions(options: CommandOptions): string {
  const rows = Object.entries(options).map(([name, { value, isNegative = false, about }]) => {
    const prefix = isNegative ? '--no-' : '--';
    return { name: `${prefix}${name}${value === undefined ? '' : ` ${value}`}`, about };
  });
  const width = Math.max(0, ...rows.map(({ name }) => name.length));
  const indent = ' '.repeat(width + 4);
  return rows
    .map(({ name, about }) => {
      const lines = wrap(about, maxLine - indent.length).join(`\n${indent}`);
      return `  ${name.padEnd(width)}  ${lines}`;
    })
    .join('\n');
}

/** Splits a text into lines of at most `width` characters. A longer word has a line of its own. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
