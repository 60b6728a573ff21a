import type { Config } from '../../config/config.ts';
import { systemClock } from '../../core/clock.ts';
import type { Engine } from '../../core/engine/engine.ts';
import { systemRandom } from '../../core/random.ts';

/** Returns `null` without `PERCH_REDIS_URL`. @throws UnusableEngineError if it fails */
export async function openCommandEngine(config: Config): Promise<Engine | null> {
  if (config.PERCH_REDIS_URL === undefined) return null;
  const { openSharedEngine } = await import('../../app/open/shared-engine.ts');
  const logger = { info: () => {}, error: () => {} };
  const options = { config, logger, clock: systemClock, random: systemRandom };
  return openSharedEngine(options, { isCounted: false });
}
