import type { Fetching } from '../../app/open/fetching.ts';
import { Problem, toProblemDocument } from '../../core/problem.ts';
import { type CommandContext, type ExitCode, exitCodes, UsageError, worstOf } from '../command.ts';
import type { Output } from '../output/output.ts';
import { toJsonLines } from '../output/table.ts';
import { toCommandError, withFetching } from './open-reading.ts';

/** An input of `perch read`. */
export interface PlannedRead {
  readonly text: string;
  /** Prints what it names, or the reason why it cannot be read. */
  readonly print:
    | ((fetching: Fetching, context: CommandContext) => Promise<void>)
    | Problem
    | UsageError;
  readonly isJson: boolean;
  /** Whether there is no other input. */
  readonly isAlone: boolean;
}

/** Reads and prints every input, also after one that fails; returns the worst exit code. */
export async function readAll(
  planned: readonly PlannedRead[],
  context: CommandContext,
): Promise<ExitCode> {
  const createPage = createPages(context.stdout);
  const readEach = async (fetching: Fetching | null): Promise<ExitCode> => {
    let code: ExitCode = exitCodes.ok;
    for (const one of planned) {
      if (context.stdout.hasLeft) break;
      code = worstOf(code, await readOne(one, fetching, { ...context, stdout: createPage() }));
    }
    return code;
  };
  const isFaulty = planned.every(({ print }) => print instanceof Error);
  return isFaulty ? readEach(null) : withFetching(context, readEach);
}

/** Returns the function that creates the output of the next page. A blank line is put between pages. */
function createPages(stdout: Output): () => Output {
  let gap = '';
  return () => {
    let before = gap;
    return {
      ...stdout,
      get hasLeft() {
        return stdout.hasLeft;
      },
      write: (text) => {
        stdout.write(`${before}${text}`);
        before = '';
        gap = '\n';
      },
    };
  };
}

async function readOne(
  { text, print, isJson, isAlone }: PlannedRead,
  fetching: Fetching | null,
  context: CommandContext,
): Promise<ExitCode> {
  // Of several inputs the lines of JSON say which one they are of.
  const tag = (line: object) => {
    if (isJson && !isAlone) context.stdout.writeJson(toJsonLines([line]));
  };
  tag({ input: text });
  try {
    if (print instanceof Error) throw print;
    if (fetching === null) throw new Error('Nothing is open to read with.');
    await print(fetching, context);
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof Problem) {
      tag({ error: toProblemDocument(error, { baseUrl: context.config.PERCH_BASE_URL }) });
      const { exit, message } = toCommandError(error);
      context.stderr.write(`perch: ${isAlone ? '' : `${text}: `}${message}\n`);
      return exit;
    }
    if (!(error instanceof UsageError)) throw error;
    tag({ error: { detail: error.message } });
    context.stderr.write(`perch: ${error.message}\n`);
    return exitCodes.usage;
  }
}
