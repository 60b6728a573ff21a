import type { pino } from 'pino';
import { toLedgerBounds } from '../../app/open/bounds.ts';
import { type Fetching, openFetching } from '../../app/open/fetching.ts';
import { systemClock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import { systemRandom } from '../../core/random.ts';
import { createLedger } from '../../core/scheduling/ledger.ts';
import { createServerLoop } from '../../core/scheduling/loop.ts';
import { createHeavyTurns } from '../../core/scheduling/turns.ts';
import { type CommandContext, type ExitCode, exitCodes } from '../command.ts';
import { createLogger } from '../logger.ts';
import { explainOpening } from '../output/explain.ts';

/**
 * Opens what reads are answered with, runs `use`, and closes it again. A problem is told on standard
 * error; returns the exit code.
 */
export async function withFetching(
  context: CommandContext,
  use: (fetching: Fetching, logger: pino.Logger) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { config, stderr } = context;
  const level = config.LOG_LEVEL === 'info' ? 'error' : config.LOG_LEVEL;
  const logger = await createLogger(level, stderr);
  let fetching: Fetching;
  try {
    const ledger = createLedger(toLedgerBounds(config));
    fetching = openFetching({
      config,
      logger,
      ledger,
      heavyTurns: createHeavyTurns(createServerLoop()),
      clock: systemClock,
      random: systemRandom,
    });
  } catch (error) {
    stderr.write(`perch: ${explainOpening(error, config)}\n`);
    return exitCodes.usage;
  }
  try {
    return await use(fetching, logger);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return tellProblem(error, context);
  } finally {
    await fetching.close();
  }
}

/** Writes a problem and what to do about it to standard error; returns its exit code. */
export function tellProblem(
  problem: Problem,
  { stderr }: Pick<CommandContext, 'stderr'>,
  input?: string,
): ExitCode {
  const subject = input === undefined ? '' : `${input}: `;
  const { retryAfterSeconds: wait, resolution } = problem;
  const next = wait === undefined ? resolution : `Retry in ${wait} seconds.`;
  stderr.write(`perch: ${subject}${problem.message}\n${next}\n`);
  return toExitCode(problem);
}

function toExitCode(problem: Problem): ExitCode {
  if (problem.status === 404) return exitCodes.notFound;
  return problem.status < 500 ? exitCodes.usage : exitCodes.upstream;
}
