import type { Fetching } from '../../app/open/fetching.ts';
import { Problem, toProblemDocument } from '../../core/problem.ts';
import { type CommandContext, type ExitCode, exitCodes, UsageError, worstOf } from '../command.ts';
import type { Output } from '../output/output.ts';
import { toJsonLines } from '../output/table.ts';
import { toCommandError, withFetching } from './open-reading.ts';

export interface PlannedRead {
  readonly text: string;
  /** The error instead of a function if the input is invalid. */
  readonly print:
    | ((fetching: Fetching, context: CommandContext) => Promise<void>)
    | Problem
    | UsageError;
  readonly isJson: boolean;
  readonly isAlone: boolean;
}

/** Fetches and prints all inputs, even if some inputs fail. Returns the most severe exit code. */
export async function readAll(planned: readonly PlannedRead[], context: CommandContext) {
  const createPage = createPages(context.stdout);
  const readEach = async (fetching: Fetching | null): Promise<ExitCode> => {
    let code: ExitCode = exitCodes.ok;
    for (const one of planned) {
      if (context.stdout.hasLeft) break;
      code = worstOf(code, await readOne(one, fetching, { ...context, stdout: createPage() }));
    }
    return code;
  };
  const areAllInvalid = planned.every(({ print }) => print instanceof Error);
  return areAllInvalid ? readEach(null) : withFetching(context, readEach);
}

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
  // With several inputs, lines of JSON before and after the items identify the input.
  const tag = (line: object) => {
    if (isJson && !isAlone) context.stdout.writeJson(toJsonLines([line]));
  };
  tag({ input: text });
  try {
    if (print instanceof Error) throw print;
    if (fetching === null) throw new Error('The providers are not open.');
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
