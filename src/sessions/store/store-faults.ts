import type { Clock } from '../../core/clock.ts';
import { describeEngineError, EngineError } from '../../core/engine/engine-error.ts';
import { errorCodeOf } from '../../core/files/sqlite.ts';
import { createRepeatedLines } from '../../core/repeated-lines.ts';

/** Callbacks of the store: `failed` with the cause, `worked` after a successful write. */
export interface StoreWatch {
  failed(cause: unknown): void;
  worked(): void;
}

export interface StoreFaults extends StoreWatch {
  /** Sentence for operators, without paths and addresses; `null` while the store works. */
  readonly fault: string | null;
}

interface StoreFaultsOptions {
  readonly clock: Clock;
  /** Called with the error message of a failure, at most once a minute. */
  readonly onFault: (reason: string) => void;
  /** Called when the store works again after a reported failure. */
  readonly onRecovered: () => void;
}

/** Error for a database file that was deleted or replaced while it was open. */
export class LostFileError extends Error {}

export function createStoreFaults({ clock, onFault, onRecovered }: StoreFaultsOptions) {
  let fault: string | null = null;
  let isReported = false;
  const writeLine = createRepeatedLines(clock);
  return {
    get fault() {
      return fault;
    },
    failed: (cause: unknown): void => {
      fault = describeStoreFault(cause);
      writeLine('session store', () => {
        isReported = true;
        onFault(cause instanceof Error ? cause.message : String(cause));
      });
    },
    worked: (): void => {
      fault = null;
      if (!isReported) return;
      isReported = false;
      onRecovered();
    },
  } satisfies StoreFaults;
}

const sentences: readonly (readonly [pattern: RegExp, sentence: string])[] = [
  [/^SQLITE_FULL/, 'The disk is full.'],
  [/^SQLITE_READONLY/, 'The database file or its disk is read-only.'],
  [/^SQLITE_(?:BUSY|LOCKED)/, 'Another process has locked the database file.'],
  [/^SQLITE_(?:CORRUPT|NOTADB)/, 'The database file is damaged.'],
];

function describeStoreFault(cause: unknown): string {
  if (cause instanceof EngineError) return describeEngineError(cause);
  if (cause instanceof LostFileError) return 'The database file was deleted or replaced.';
  const code = errorCodeOf(cause) ?? '';
  const [, sentence] = sentences.find(([pattern]) => pattern.test(code)) ?? [];
  return sentence ?? 'The database file cannot be read or written.';
}
