import type { Fetching } from '../../app/open/fetching.ts';
import { Problem, toProblemDocument } from '../../core/problem.ts';
import { type CommandContext, type ExitCode, exitCodes, UsageError, worstOf } from '../command.ts';
import type { Output } from '../output/output.ts';
import { tellProblem, withFetching } from './open-reading.ts';
import { type ListPrint, printList } from './print-list.ts';
import { type PostPrint, printPost } from './print-post.ts';

/** An input of `perch read`, and how it is printed, or why it cannot be read. */
export interface PlannedRead {
  readonly text: string;
  readonly print: PostPrint | ListPrint | Problem | UsageError;
  readonly isJson: boolean;
  /** Whether there is no other input. */
  readonly isAlone: boolean;
}

/** Reads and prints every input, also after one that fails; returns the worst exit code. */
export async function readAll(
  planned: readonly PlannedRead[],
  context: CommandContext,
): Promise<ExitCode> {
  const pages = createPages(context.stdout);
  const within = { ...context, stdout: pages.output };
  const readEach = async (fetching: Fetching | null): Promise<ExitCode> => {
    let code: ExitCode = exitCodes.ok;
    for (const one of planned) {
      if (context.stdout.hasLeft) break;
      pages.begin();
      code = worstOf(code, await readOne(one, fetching, within));
    }
    return code;
  };
  const isFaulty = planned.every(({ print }) => print instanceof Error);
  return isFaulty ? readEach(null) : withFetching(context, readEach);
}

/** Puts a blank line between pages. */
function createPages(stdout: Output) {
  let isFirst = true;
  let isBegun = false;
  const output: Output = {
    ...stdout,
    get hasLeft() {
      return stdout.hasLeft;
    },
    write: (text) => {
      if (!isFirst && !isBegun) stdout.write('\n');
      isFirst = false;
      isBegun = true;
      stdout.write(text);
    },
  };
  return {
    output,
    begin: () => {
      isBegun = false;
    },
  };
}

async function readOne(
  planned: PlannedRead,
  fetching: Fetching | null,
  context: CommandContext,
): Promise<ExitCode> {
  if (isTagged(planned)) writeTagged({ input: planned.text }, context);
  try {
    await print(planned, fetching, context);
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof Problem || error instanceof UsageError) {
      return tellFault(planned, error, context);
    }
    throw error;
  }
}

/** Of several inputs the lines of JSON say which one they are of. */
function isTagged({ isJson, isAlone }: PlannedRead): boolean {
  return isJson && !isAlone;
}

function writeTagged(line: object, { stdout }: CommandContext): void {
  stdout.writeJson(`${JSON.stringify(line)}\n`);
}

function tellFault(
  planned: PlannedRead,
  error: Problem | UsageError,
  context: CommandContext,
): ExitCode {
  if (isTagged(planned)) writeTagged({ error: toErrorMember(error, context) }, context);
  const input = planned.isAlone ? undefined : planned.text;
  if (error instanceof Problem) return tellProblem(error, context, input);
  context.stderr.write(`perch: ${error.message}\n`);
  return exitCodes.usage;
}

async function print(
  { print: how }: PlannedRead,
  fetching: Fetching | null,
  context: CommandContext,
): Promise<void> {
  if (how instanceof Error) throw how;
  if (fetching === null) throw new Error('Nothing is open to read with.');
  if ('read' in how) await printList(how, fetching, context);
  else await printPost(how, fetching, context);
}

/** Returns a failure as a member of a line of JSON. */
function toErrorMember(error: Problem | UsageError, { config }: CommandContext): object {
  if (error instanceof Problem) return toProblemDocument(error, { baseUrl: config.PERCH_BASE_URL });
  return { detail: error.message };
}
