import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Configures V8 to save about 60 MiB. `--optimize-for-size` would slow imports by 25%. */
export function keepHeapSmall(): void {
  for (const flag of ['semi-space-growth-factor=1', 'heap-growing-percent=30', 'expose-gc']) {
    setFlagsFromString(`--${flag}`);
  }
  const collect: unknown = runInNewContext('gc'); // only contexts created after the flag was set have `gc`
  if (typeof collect === 'function') collect();
}
