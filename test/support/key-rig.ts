import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { type KeyCheck, type KeyFileStore, openKeyStore } from '../../src/access/keys/key-store.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { temporaryFolder } from './spawn-perch.ts';

/** Key store of a test, with its reported errors. */
export interface KeyRig {
  readonly store: KeyFileStore;
  readonly clock: ManualClock;
  /** Path of the file; `:memory:` for a store in memory. */
  readonly path: string;
  readonly told: readonly string[];
  /** Returns the status of a key for the next request. */
  checkNext(key: string): Promise<KeyCheck['status']>;
  /** Returns the status of a key one second later, when a failed store is retried. */
  checkLater(key: string): Promise<KeyCheck['status']>;
}

/** Path and options of a test store. */
export interface KeyRigOptions {
  readonly path?: string;
  readonly clock?: ManualClock;
  readonly whenMissing?: 'make' | 'wait';
}

/** Opens a key store with a manual clock. It is closed at the end of the test. */
export function openKeyRig(options: KeyRigOptions = {}): KeyRig {
  const { path = `${temporaryFolder()}/perch.db`, clock = createManualClock() } = options;
  const told: string[] = [];
  const store = openKeyStore({
    ...options,
    path,
    clock,
    random: systemRandom,
    onTrouble: (reason) => told.push(reason),
    onRecovered: () => told.push('recovered'),
  });
  onTestFinished(() => store.close());
  const checkNext = async (key: string) => store.check(key).status;
  const checkLater = async (key: string) => {
    await clock.advance(1000);
    return checkNext(key);
  };
  return { store, clock, path, told, checkNext, checkLater };
}

/** Locks a database from another process until the returned function is called. */
export async function lockFromOutside(path: string): Promise<() => Promise<void>> {
  const script = `
    import Database from 'better-sqlite3';
    const database = new Database(${JSON.stringify(path)});
    database.exec('BEGIN EXCLUSIVE');
    console.log('locked');
    setInterval(() => {}, 60_000);
  `;
  const args = ['--input-type=module', '-e', script];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    void ended.then(() => reject(new Error('the locking process ended')));
  });
  return () => {
    child.kill('SIGKILL');
    return ended;
  };
}
