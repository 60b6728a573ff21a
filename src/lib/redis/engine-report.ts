import type { Clock } from '../clock.ts';
import type { Engine } from './engine.ts';
import { describeFault, EngineError } from './engine-error.ts';

/** State of the engine as shown to operators, without addresses and names. */
export interface EngineReport {
  readonly isUp: boolean;
  /** Sentence that explains why the engine cannot be used; `null` while it answers. */
  readonly fault: string | null;
  /** Number of running Perch instances at the last count. */
  readonly instances: number;
  /** Warnings about settings or states that risk a loss of data or a refusal of writes. */
  readonly warnings: readonly string[];
}

/** Replies of one primary Redis or Valkey server to `INFO persistence` and `INFO memory`. */
export type PrimaryInfo = Readonly<{ persistence: string; memory: string }>;

interface EngineReportOptions {
  readonly engine: Pick<Engine, 'state' | 'info'>;
  readonly clock: Clock;
  /** Called with all current warnings whenever they have changed. */
  readonly onWarnings: (warnings: readonly string[]) => void;
}

/** Milliseconds between two checks of the settings of the shared Valkey or Redis server. */
const checkMs = 60_000;
/** Interval in milliseconds at which Perch checks whether the engine has started to answer. */
const noticeMs = 1000;

/** Starts to check the engine's settings: as soon as it answers, then every minute. */
export function openEngineReport(options: EngineReportOptions) {
  const { engine, clock, onWarnings } = options;
  let warnings: readonly string[] = [];
  let [wasUp, checkedMs] = [false, 0];
  const close = repeat(clock, noticeMs, async () => {
    const { isUp } = engine.state;
    const isDue = !wasUp || Math.abs(clock.now() - checkedMs) >= checkMs;
    wasUp = isUp;
    if (!isUp || !isDue) return;
    checkedMs = clock.now();
    const found = await readWarnings(engine);
    if (found === null || found.join() === warnings.join()) return;
    warnings = found;
    onWarnings(warnings);
  });
  return {
    /** Returns the last known state, without a request to the engine. */
    read: (): EngineReport => {
      const { isUp, fault, instances } = engine.state;
      return { isUp, fault: fault === null ? null : describeFault(fault), instances, warnings };
    },
    close,
  };
}

/** Runs `check` at once, then `everyMs` after each run, until the returned function is called. */
function repeat(clock: Clock, everyMs: number, check: () => Promise<void>): () => void {
  const closing = new AbortController();
  const watch = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await check();
      await Promise.allSettled([clock.sleep(everyMs, closing.signal)]);
    }
  };
  void watch();
  return () => closing.abort();
}

/** Returns warnings about the settings of all primaries; `null` if they do not answer. */
export async function readWarnings(
  engine: EngineReportOptions['engine'],
): Promise<readonly string[] | null> {
  try {
    const [persistence, memory] = await Promise.all([
      engine.info('persistence'),
      engine.info('memory'),
    ]);
    const toPrimary = (text: string, at: number) => ({
      persistence: text,
      memory: memory[at] ?? '',
    });
    return findWarnings(persistence.map(toPrimary));
  } catch (error) {
    const isRefused = error instanceof EngineError && !error.isOutage;
    return isRefused ? [uncheckable] : null;
  }
}

const uncheckable =
  'Perch may not run the command INFO, so it cannot check the persistence and the eviction policy of the engine. Allow the command for the user in PERCH_REDIS_URL.';

const nearlyFull = 0.9;

type Rule = Readonly<{
  applies: (info: PrimaryInfo) => boolean;
  describe: (where: string) => string;
}>;

const rules: readonly Rule[] = [
  {
    applies: ({ persistence }) => readField(persistence, 'aof_enabled') === '0',
    describe: (where) =>
      `Append-only persistence is off${where}, so a restart of the engine deletes keys and sessions. Set \`appendonly yes\` in its configuration.`,
  },
  {
    applies: ({ persistence }) => readField(persistence, 'aof_last_write_status') === 'err',
    describe: (where) =>
      `The last write of the append-only file failed${where}, so the engine refuses changes. Check its disk.`,
  },
  {
    applies: ({ memory }) => {
      const policy = readField(memory, 'maxmemory_policy');
      return readNumber(memory, 'maxmemory') > 0 && policy !== undefined && policy !== 'noeviction';
    },
    describe: (where) =>
      `The eviction policy is not noeviction${where}, so a full engine deletes keys and sessions. Set \`maxmemory-policy noeviction\` in its configuration.`,
  },
  {
    applies: ({ memory }) => {
      const limit = readNumber(memory, 'maxmemory');
      return limit > 0 && readNumber(memory, 'used_memory') > nearlyFull * limit;
    },
    describe: (where) =>
      `The engine uses more than 90% of its maxmemory${where}. A full engine refuses changes. Increase \`maxmemory\`.`,
  },
];

/** Returns warnings about settings and states that risk a loss of data or a refusal of writes. */
export function findWarnings(primaries: readonly PrimaryInfo[]): readonly string[] {
  return rules.flatMap(({ applies, describe }) => {
    const count = primaries.filter(applies).length;
    if (count === 0) return [];
    return describe(primaries.length === 1 ? '' : ` on ${count} of ${primaries.length} primaries`);
  });
}

function readField(info: string, name: string): string | undefined {
  const line = info.split(/\r?\n/).find((one) => one.startsWith(`${name}:`));
  return line?.slice(name.length + 1);
}

/** Returns a numeric field of a reply to `INFO`; 0 if it is missing. */
export const readNumber = (info: string, name: string): number =>
  Number(readField(info, name) ?? 0);

const maxShare = 0.6;
const spaceCheckMs = 5000;

/**
 * Starts to check the memory use of all primaries every five seconds, until `close`. The limit for
 * cached responses leaves memory for sessions and API keys.
 */
export function watchEngineSpace(engine: Pick<Engine, 'info' | 'clock' | 'state'>) {
  let isFree = true;
  const check = async (): Promise<void> => {
    if (!engine.state.isUp) return;
    const answers = await engine.info('memory');
    isFree = answers.every((text) => {
      const limit = readNumber(text, 'maxmemory');
      return limit === 0 || readNumber(text, 'used_memory') <= maxShare * limit;
    });
  };
  // After a failed check, the state stays as it was.
  const close = repeat(engine.clock, spaceCheckMs, () => check().catch(() => {}));
  return {
    /** Returns whether the shared Valkey or Redis server has space for further cached responses. */
    isFree: () => isFree,
    close,
  };
}
