import type { Readable } from 'node:stream';
import type { Config } from '../config.ts';

/** Where a command writes; a test hands in its own. */
export interface Output {
  readonly isTTY?: boolean;
  /** False once nothing can be written any more. */
  readonly writable?: boolean;
  write(text: string): unknown;
}

/** What a command may use of the process. */
export interface CommandContext {
  readonly config: Config;
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** The exit codes of every command. */
export const exitCodes = { ok: 0, notFound: 1, usage: 2, upstream: 3, defect: 70 } as const;

/** An exit code. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** One command of the command line. */
export interface Command {
  /** The arguments and what it does, for `perch --help`. */
  readonly usage: string;
  readonly summary: string;
  /** Runs until the work is done. Throws UsageError for arguments it does not take. */
  run(args: readonly string[], context: CommandContext): Promise<ExitCode>;
}

/** Arguments that a command does not take; told on stderr with its usage. */
export class UsageError extends Error {}
