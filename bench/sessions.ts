import { fileURLToPath } from 'node:url';
import { benchFanOut } from './sessions/fan-out.ts';
import { benchIdle } from './sessions/idle.ts';
import { benchStalled } from './sessions/stalled.ts';
import { benchFew, benchTogether } from './sessions/together.ts';

const parts = {
  together: benchTogether,
  few: benchFew,
  idle: benchIdle,
  'fan-out': benchFanOut,
  stalled: benchStalled,
};

/**
 * Measures the session service: many sessions at once, idle streams, and many readers of one session. Returns the lines
 * of a Markdown section.
 *
 * @param names parts to run; default: all
 */
export async function benchSessions(names: readonly string[] = []): Promise<string[]> {
  const lines = ['## Sessions', ''];
  for (const [name, bench] of Object.entries(parts)) {
    if (names.length === 0 || names.includes(name)) lines.push(...(await bench()));
  }
  return lines;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log((await benchSessions(process.argv.slice(2))).join('\n'));
}
