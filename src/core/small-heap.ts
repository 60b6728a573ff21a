import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Makes V8 collect garbage earlier, for the rest of the process. It is for commands that go through
 * more data than anybody wants in memory: what a program has just thrown away otherwise fills some
 * 60 MiB before it is collected. A server has no use for it.
 *
 * The space of young objects stays as large as it is, and that of old ones grows by less than a third
 * before it is collected again. V8's `--optimize-for-size` saves as much memory, but makes the young
 * space so small that most objects outlive it, which costs an import a quarter of its time. How far the
 * heap may grow is reckoned at a collection, and the first one would come late; so one is made here.
 */
export function keepHeapSmall(): void {
  for (const flag of ['semi-space-growth-factor=1', 'heap-growing-percent=30', 'expose-gc']) {
    setFlagsFromString(`--${flag}`);
  }
  const collect: unknown = runInNewContext('gc'); // contexts that are made from now on have it
  if (typeof collect === 'function') collect();
}
