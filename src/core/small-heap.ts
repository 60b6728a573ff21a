import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Configures V8 to collect garbage earlier, which saves about 60 MiB in commands that process much data. With this
 * configuration, the old generation of the heap grows by up to about a third before V8 collects garbage again. V8's
 * option `--optimize-for-size` is not used, because with it an import takes 25% longer.
 */
export function keepHeapSmall(): void {
  for (const flag of ['semi-space-growth-factor=1', 'heap-growing-percent=30', 'expose-gc']) {
    setFlagsFromString(`--${flag}`);
  }
  const collect: unknown = runInNewContext('gc'); // only contexts created after the flag was set have `gc`
  if (typeof collect === 'function') collect();
}
