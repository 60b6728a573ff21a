import { parseArgs } from 'node:util';
import { systemClock } from '../core/clock.ts';
import { Problem, problemKinds } from '../core/problem.ts';
import { systemRandom } from '../core/random.ts';
import { type Fetching, openFetching } from '../open-fetching.ts';
import { reads } from '../reads/index.ts';
import { formats } from '../render/formats.ts';
import {
  type Command,
  type CommandContext,
  type ExitCode,
  exitCodes,
  UsageError,
} from './command.ts';
import { explainOpening } from './explain.ts';
import { createLogger } from './logger.ts';

/** `perch read URL`: one post on standard output, without a server. */
export const readCommand: Command = {
  usage: 'read URL [--full] [--json | --format markdown|json|obsidian]',
  summary: `Prints a post as Markdown.
  --full      adds exact times, metrics and profile detail
  --json      prints the JSON body instead
  --format    markdown, json or obsidian
Exit code: 0 printed, 1 not found, 2 bad usage, 3 upstream trouble.`,
  run: (args, context) => read(parseReadArgs(args), context),
};

interface ReadArgs {
  readonly url: string;
  readonly full: boolean;
  readonly format: string;
}

function parseReadArgs(args: readonly string[]): ReadArgs {
  const { values, positionals } = parse(args);
  const [url, ...more] = positionals;
  if (url === undefined) throw new UsageError('read needs the URL of a post');
  if (more.length > 0) throw new UsageError(`read takes one URL, not ${positionals.length}`);
  if (values.json === true && values.format !== undefined && values.format !== 'json') {
    throw new UsageError('--json and --format contradict each other');
  }
  const format = values.json === true ? 'json' : (values.format ?? 'markdown');
  return { url, full: values.full ?? false, format };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        full: { type: 'boolean' },
        json: { type: 'boolean' },
        format: { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function read(args: ReadArgs, { config, stdout, stderr }: CommandContext): Promise<ExitCode> {
  const logger = await createLogger(
    config.LOG_LEVEL === 'info' ? 'error' : config.LOG_LEVEL,
    stderr,
  );
  let fetching: Fetching;
  try {
    fetching = openFetching({ config, logger, clock: systemClock, random: systemRandom });
  } catch (error) {
    stderr.write(`perch: cannot open the archive: ${explainOpening(error, config)}\n`);
    return exitCodes.usage;
  }
  try {
    const given = { url: args.url, format: args.format, full: String(args.full) };
    const understood = reads.getPost.understand(given, { baseUrl: config.PERCH_BASE_URL });
    const answer = await fetching.fetcher.fetch(understood.plan);
    const text = formats[understood.format ?? 'markdown'].render(understood.assemble(answer));
    stdout.write(text.endsWith('\n') ? text : `${text}\n`);
    return exitCodes.ok;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    stderr.write(`perch: ${error.message}\n${tellNextStep(error)}\n`);
    return toExitCode(error);
  } finally {
    await fetching.close();
  }
}

function tellNextStep({ code, retryAfterSeconds }: Problem): string {
  if (retryAfterSeconds === undefined) return problemKinds[code].resolution;
  return `Retry in ${retryAfterSeconds} seconds.`;
}

function toExitCode(problem: Problem): ExitCode {
  if (problem.status === 404) return exitCodes.notFound;
  return problem.status < 500 ? exitCodes.usage : exitCodes.upstream;
}
