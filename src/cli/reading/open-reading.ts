import type { pino } from 'pino';
import { toLedgerBounds } from '../../app/open/bounds.ts';
import { type Fetching, openFetching } from '../../app/open/fetching.ts';
import { systemClock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import { systemRandom } from '../../core/random.ts';
import { createLedger } from '../../core/scheduling/ledger.ts';
import { createServerLoop } from '../../core/scheduling/loop.ts';
import { createHeavyTurns } from '../../core/scheduling/turns.ts';
import { type CommandContext, CommandError, type ExitCode } from '../command.ts';
import { createLogger } from '../logger.ts';
import { explainOpenError } from '../output/explain.ts';

/** Opens the providers and the cache, calls `use` with them, and closes them. @throws CommandError */
export async function withFetching(
  { config, stderr }: CommandContext,
  use: (fetching: Fetching, logger: pino.Logger) => Promise<ExitCode>,
): Promise<ExitCode> {
  const level = config.LOG_LEVEL === 'info' ? 'error' : config.LOG_LEVEL;
  const logger = await createLogger(level, stderr);
  let fetching: Fetching;
  try {
    fetching = openFetching({
      config,
      logger,
      ledger: createLedger(toLedgerBounds(config)),
      heavyTurns: createHeavyTurns(createServerLoop()),
      clock: systemClock,
      random: systemRandom,
    });
  } catch (error) {
    throw new CommandError('usage', explainOpenError(error, config), { cause: error });
  }
  try {
    return await use(fetching, logger);
  } catch (error) {
    throw error instanceof Problem ? toCommandError(error) : error;
  } finally {
    await fetching.close();
  }
}

/** Returns the command error for a problem, with advice on what to do next. */
export function toCommandError(problem: Problem): CommandError {
  const { status, message, retryAfterSeconds: wait, resolution } = problem;
  const next = wait === undefined ? resolution : `Retry in ${wait} seconds.`;
  const refused = status === 404 ? 'notFound' : 'usage';
  return new CommandError(status < 500 ? refused : 'upstream', `${message}\n${next}`);
}
