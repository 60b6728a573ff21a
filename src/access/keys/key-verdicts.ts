import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import type { KeyCheck } from './key-store.ts';

/** Milliseconds for which a key's last check result is reused while the key store fails. */
const knownMs = 30_000;
const maxKnown = 10_000;

type Verdict = Readonly<{ check: KeyCheck; atMs: number }>;

/** Creates separate caches for valid and invalid keys, so that invalid ones evict no valid ones. */
export function createVerdicts(clock: Clock) {
  const create = () => new LRUCache<string, Verdict>({ max: maxKnown });
  const verdicts = { valid: create(), invalid: create() };
  return {
    note: (key: string, check: KeyCheck): void => {
      const isValid = check.status === 'valid';
      verdicts[isValid ? 'valid' : 'invalid'].set(key, { check, atMs: clock.now() });
      if (!isValid) verdicts.valid.delete(key);
    },
    recall: (key: string): KeyCheck | undefined => {
      const recent = verdicts.valid.get(key) ?? verdicts.invalid.get(key);
      if (recent === undefined || Math.abs(clock.now() - recent.atMs) > knownMs) return undefined;
      return recent.check;
    },
  };
}
