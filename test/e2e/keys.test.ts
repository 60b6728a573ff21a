import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openKeyStore } from '../../src/access/keys/key-store.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openSqlite } from '../../src/lib/files/sqlite.ts';
import { systemRandom } from '../../src/lib/random.ts';
import type { Acknowledgement, Attempt } from '../support/key-writer.ts';
import { isLongRun } from '../support/long-run.ts';
import { builtProgram, temporaryFolder } from '../support/spawn-perch.ts';

/** Known state of a key, with its secret if its creation was acknowledged. */
interface KnownKey {
  readonly label: string;
  readonly enabled: boolean;
  readonly key?: string;
}

/** Keys by id. */
type Keys = ReadonlyMap<string, KnownKey>;

type WriterLine = Attempt | Acknowledgement;

/** Changes that a process acknowledged before it was killed, and the change in progress. */
interface Told {
  readonly keys: Keys;
  readonly attempt: Attempt | undefined;
}

/** Lets a process change keys, and kills it after some lines of output. */
function runAndKill(path: string, linesBeforeKill: number): Promise<readonly WriterLine[]> {
  const child = spawn(process.execPath, [builtProgram('key-writer'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (text.split('\n').length > linesBeforeKill) child.kill('SIGKILL');
  });
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      if (code !== null) return reject(new Error(`the writer ended by itself, with ${code}`));
      // A last line without its end was not told.
      const lines = text.split('\n').slice(0, -1);
      resolve(lines.map((line): WriterLine => JSON.parse(line)));
    });
  });
}

/** Applies the acknowledged changes to the keys. */
function follow(before: Keys, lines: readonly WriterLine[]): Told {
  const keys = new Map(before);
  let attempt: Attempt | undefined;
  for (const line of lines) {
    if ('try' in line) {
      attempt = line;
      continue;
    }
    if (attempt !== undefined) acknowledge(keys, attempt, line);
    attempt = undefined;
  }
  return { keys, attempt };
}

function acknowledge(keys: Map<string, KnownKey>, attempt: Attempt, line: Acknowledgement): void {
  if (attempt.try === 'create') {
    if ('key' in line) keys.set(line.id, { label: attempt.label, enabled: true, key: line.key });
    return;
  }
  const old = keys.get(attempt.id);
  if (old === undefined) throw new Error('the writer changed a key that nobody knows');
  if (attempt.try === 'disable' || attempt.try === 'enable') {
    keys.set(attempt.id, { ...old, enabled: attempt.try === 'enable' });
    return;
  }
  keys.delete(attempt.id);
  if ('key' in line) keys.set(line.id, { ...old, key: line.key });
}

const comparable = (keys: Keys) =>
  [...keys].map(([id, { label, enabled }]) => `${id} ${label} ${enabled}`).sort();

/** All possible states of the file: with and without the change in progress. */
function possibleStates({ keys, attempt }: Told, found: Keys): readonly (readonly string[])[] {
  const without = comparable(keys);
  if (attempt === undefined) return [without];
  const after = new Map(keys);
  // The id of a key that was made but not told is known by being the one nobody knows.
  const [unknown] = [...found].filter(([id]) => !keys.has(id));
  if (attempt.try === 'create') {
    if (unknown !== undefined) after.set(unknown[0], { label: attempt.label, enabled: true });
    return [without, comparable(after)];
  }
  const old = keys.get(attempt.id);
  if (old === undefined) throw new Error('the writer was at a key that nobody knows');
  if (attempt.try === 'disable' || attempt.try === 'enable') {
    after.set(attempt.id, { ...old, enabled: attempt.try === 'enable' });
    return [without, comparable(after)];
  }
  after.delete(attempt.id);
  if (attempt.try === 'rotate') after.set(unknown?.[0] ?? 'missing', old);
  return [without, comparable(after)];
}

/** Reopens the store and returns its keys, after checking each secret. */
async function readStore(path: string, { keys: known, attempt }: Told): Promise<Keys> {
  const store = openKeyStore({
    path,
    clock: systemClock,
    random: systemRandom,
    whenMissing: 'wait',
  });
  const records = await store.list();
  const found = new Map(
    records.map(({ id, label, enabled }): [string, KnownKey] => {
      const key = known.get(id)?.key;
      return [id, key === undefined ? { label, enabled } : { label, enabled, key }];
    }),
  );
  for (const [id, { key }] of known) {
    if (key === undefined || (attempt !== undefined && 'id' in attempt && attempt.id === id)) {
      continue;
    }
    const isValid = found.get(id)?.enabled === true;
    expect(store.check(key).status).toBe(isValid ? 'valid' : 'invalid');
  }
  store.close();
  return found;
}

function expectSound(path: string): void {
  const database = openSqlite({ path, migrations: [() => {}], journal: 'rollback' });
  const verdict = database.prepare<[], string>('PRAGMA integrity_check').pluck().get();
  database.close();
  expect(verdict).toBe('ok');
}

/** Kills writers of one file in sequence; after each, the file must have the acknowledged keys. */
async function killRepeatedly(path: string, kills: number): Promise<number> {
  let keys: Keys = new Map();
  let acknowledged = 0;
  for (let count = 0; count < kills; count += 1) {
    const linesBeforeKill = 1 + Math.floor(systemRandom.fraction() * 60);
    const lines = await runAndKill(path, linesBeforeKill);
    const told = follow(keys, lines);
    const found = await readStore(path, told);
    expectSound(path);
    expect(possibleStates(told, found)).toContainEqual(comparable(found));
    keys = found;
    acknowledged += lines.filter((line) => 'did' in line).length;
  }
  return acknowledged;
}

/** Number of kills for each of two files that are written concurrently. */
const killsOfLane = isLongRun ? 25 : 4;

describe('keys under kill -9', () => {
  it(`are those that were acknowledged, after ${2 * killsOfLane} kills`, async () => {
    const folder = temporaryFolder();

    const counts = await Promise.all(
      [1, 2].map((lane) => killRepeatedly(`${folder}/${lane}.db`, killsOfLane)),
    );

    // The number of changes before each kill is random, so only "some" is certain.
    for (const count of counts) expect(count).toBeGreaterThan(0);
  });
});
