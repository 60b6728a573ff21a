import type { pino } from 'pino';
import { systemClock } from '../../lib/clock.ts';
import { adviceBesides, Problem, type ProblemCode } from '../../lib/problem.ts';
import { systemRandom } from '../../lib/random.ts';
import { createHeavyTurns, createServerLoop } from '../../lib/scheduling/fair-queue.ts';
import { createQuotas } from '../../lib/scheduling/quotas.ts';
import { toQuotaLimits } from '../../server/wiring/bounds.ts';
import { type Fetching, openFetching } from '../../server/wiring/fetching.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { createLogger } from '../logger.ts';
import { explainOpenError } from '../output/explain.ts';

/** Opens providers and cache, and closes them after `use`. @throws CommandError for the user */
export async function withFetching<Result>(
  { config, stderr }: CommandContext,
  use: (fetching: Fetching, logger: pino.Logger) => Promise<Result>,
): Promise<Result> {
  const level = config.LOG_LEVEL === 'info' ? 'error' : config.LOG_LEVEL;
  const logger = await createLogger(level, stderr);
  let fetching: Fetching;
  try {
    fetching = await openFetching({
      config,
      logger,
      quotas: createQuotas(toQuotaLimits(config)),
      heavyTurns: createHeavyTurns(createServerLoop()),
      clock: systemClock,
      random: systemRandom,
      tracing: null,
      redis: null,
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

const advice: Partial<Readonly<Record<ProblemCode, string>>> = {
  missing_query: 'Give the text to search for, for example: perch search heron',
  invalid_query: 'Give 1 to 512 characters, with fewer or simpler search operators.',
  invalid_url: 'Give an https URL without user name, password or port.',
  unsupported_host: 'Give a URL of X, an X mirror, Bluesky, a Mastodon server or Perch.',
  invalid_path: 'Give a URL such as https://x.com/jack/status/20.',
  invalid_params: 'Check the handle and the id of the post.',
  invalid_handle: 'Give a handle such as @jack, @alice.example.com or @user@host.',
  invalid_cursor: 'Remove `cursor` from the URL.',
  unsupported_platform: 'Configure a provider for this platform, as docs/providers.md describes.',
  upstream_error: 'Try again in a few minutes. If it fails again, update Perch.',
};

const optionAdvice = 'Correct or remove this option, or this parameter of the URL.';

/** Converts a Problem (an error for callers) to a CommandError with advice on what to do next. */
export function toCommandError(problem: Problem): CommandError {
  const { code, status, message, retryAfterSeconds: wait, resolution } = problem;
  const step = advice[code] ?? (status === 400 ? optionAdvice : resolution);
  const next =
    wait === undefined ? step : `Retry in ${wait} seconds. ${adviceBesides(problem)}`.trimEnd();
  const refused = status === 404 ? 'notFound' : 'usage';
  return new CommandError(status < 500 ? refused : 'upstream', `${message}\n${next}`);
}
