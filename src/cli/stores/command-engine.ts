import type { Config } from '../../config/config.ts';
import { systemClock } from '../../core/clock.ts';
import type { Engine } from '../../core/engine/engine.ts';
import { systemRandom } from '../../core/random.ts';

/**
 * Opens the shared engine (a Valkey or Redis server) for a command; returns `null` if
 * `PERCH_REDIS_URL` is not set. @throws UnusableEngineError if the engine does not answer
 */
export async function openCommandEngine(config: Config): Promise<Engine | null> {
  if (config.PERCH_REDIS_URL === undefined) return null;
  const { openSharedEngine } = await import('../../app/open/shared-engine.ts');
  const logger = { info: () => {}, error: () => {} };
  const options = { config, logger, clock: systemClock, random: systemRandom };
  return openSharedEngine(options, { isCounted: false });
}
