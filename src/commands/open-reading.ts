import type { pino } from 'pino';
import { systemClock } from '../core/clock.ts';
import { Problem, problemKinds } from '../core/problem.ts';
import { systemRandom } from '../core/random.ts';
import { type Fetching, openFetching } from '../open-fetching.ts';
import { type CommandContext, type ExitCode, exitCodes } from './command.ts';
import { explainOpening } from './explain.ts';
import { createLogger } from './logger.ts';

/**
 * Opens what reads are answered with, runs `use`, and closes it again. A problem is told on standard
 * error; gives the exit code.
 */
export async function withFetching(
  { config, stderr }: CommandContext,
  use: (fetching: Fetching, logger: pino.Logger) => Promise<void>,
): Promise<ExitCode> {
  const level = config.LOG_LEVEL === 'info' ? 'error' : config.LOG_LEVEL;
  const logger = await createLogger(level, stderr);
  let fetching: Fetching;
  try {
    fetching = openFetching({ config, logger, clock: systemClock, random: systemRandom });
  } catch (error) {
    stderr.write(`perch: ${explainOpening(error, config)}\n`);
    return exitCodes.usage;
  }
  try {
    await use(fetching, logger);
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
