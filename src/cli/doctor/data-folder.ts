import { spawn } from 'node:child_process';
import { accessSync, constants, type Stats, statfsSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import type { Config } from '../../config/config.ts';
import { entryPoint } from '../../lib/entry-point.ts';
import { listOwnFiles, listOwnFilesIfReadable } from '../../lib/files/data-folder.ts';
import { isAccessibleByOthers, isCode } from '../../lib/files/private-files.ts';
import { NewerSchemaError } from '../../lib/files/sqlite.ts';
import { readSecret, UnusableSecretError } from '../../lib/secret.ts';
import { findLostDatabases } from '../../server/wiring/lost-databases.ts';
import { newestSchemaOf } from '../backup/manifest.ts';
import { explainOpenError } from '../output/explain.ts';
import { fault, ok, type Result, warning } from './finding.ts';

const space = {
  /** Free space in bytes below which the disk counts as full. */
  full: 64 * 2 ** 20,
  /** Free space in bytes below which the disk counts as nearly full. */
  low: 2 ** 30,
} as const;

/** Checks that the folder is usable and private, and that its disk has enough free space. */
export function checkDataFolder(folder: string, readFreeBytes = freeBytes) {
  if (folder === ':memory:') {
    return [ok('Perch stores nothing on disk, because PERCH_DATA_DIR is :memory:.')];
  }
  const path = resolve(folder);
  const existing = findExisting(path);
  const stats = statSync(existing);
  if (!stats.isDirectory()) {
    const message = `PERCH_DATA_DIR is ${path}, but ${existing} is not a directory.`;
    return [fault(message, 'Set PERCH_DATA_DIR to a directory.')];
  }
  const isMissing = existing !== path;
  if (!canAccess(existing, constants.R_OK | constants.W_OK | constants.X_OK)) {
    if (isMissing) return [describeParent(path, existing)];
    const message = `The user ${userName()} has no permission to read and write ${path}.`;
    return [fault(message, chownAdvice(path, stats.uid))];
  }
  const found = [
    ...(isMissing ? [] : findAccess(path, stats)),
    ...(isMissing ? [] : findForeignFiles(path, stats)),
    ...findSpace(existing, readFreeBytes(existing)),
  ];
  if (found.length > 0) return found;
  const free = toSize(readFreeBytes(existing));
  if (isMissing) return [ok(`Perch will create ${path} at the first start; ${free} are free.`)];
  return [ok(`${path} can be used; ${free} are free.`)];
}

function describeParent(path: string, parent: string): Result {
  if (!canAccess(parent, constants.X_OK)) {
    const message = `The user ${userName()} has no permission to open ${parent}, which contains the data folder ${path}.`;
    return fault(
      message,
      'Run perch as the user that runs the server, or set PERCH_DATA_DIR to another folder.',
    );
  }
  return fault(
    `The user ${userName()} has no permission to create ${path} in ${parent}.`,
    `Run \`install -d -m 700 -o ${userName()} ${path}\` as root, or set PERCH_DATA_DIR to another folder.`,
  );
}

/** Returns `path` if it exists, otherwise the innermost parent folder that exists. */
function findExisting(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    try {
      statSync(at);
      return at;
    } catch (error) {
      // Without the permission to search a folder, the result is this folder, because nothing below
      // it can be found.
      if (!isCode(error, 'ENOENT', 'ENOTDIR', 'EACCES') || at === dirname(at)) throw error;
    }
  }
}

function canAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function findAccess(path: string, stats: Stats): readonly Result[] {
  if (!isAccessibleByOthers(stats)) return [];
  const mode = (stats.mode & 0o7777).toString(8);
  const message = `Other users can access the data directory ${path} (its permissions are ${mode}).`;
  return [warning(message, `Run \`chmod 700 ${path}\`.`)];
}

const maxNames = 3;

function findForeignFiles(path: string, { uid }: Stats): readonly Result[] {
  const names = listOwnFiles(path);
  const unusable = names.filter(
    (name) => !canAccess(`${path}/${name}`, constants.R_OK | constants.W_OK),
  );
  if (unusable.length > 0) {
    const message = `The user ${userName()} has no permission to read and write ${listNames(unusable)} in ${path}.`;
    return [fault(message, chownAdvice(path, uid))];
  }
  const foreign = names.filter(
    (name) => (statSync(`${path}/${name}`, { throwIfNoEntry: false })?.uid ?? uid) !== uid,
  );
  if (foreign.length === 0) return [];
  const message = `${listNames(foreign)} in ${path} and the directory itself belong to different users.`;
  return [warning(message, `Run \`chown -R USER ${path}\` with the user that runs the server.`)];
}

function listNames(names: readonly string[]): string {
  const more = names.length - maxNames;
  return [...names.slice(0, maxNames), ...(more > 0 ? [`${more} more files`] : [])].join(', ');
}

const userName = () => (process.getuid === undefined ? 'that runs Perch' : process.getuid());

function chownAdvice(path: string, owner: number): string {
  const self = userName();
  const give = `\`chown -R ${self} ${path}\` as root`;
  if (owner === self) return `Run ${give} and \`chmod u+rwx ${path}\`.`;
  return `Run perch as the user ${owner}, the owner of the directory. If the user ${self} runs the server, run ${give}.`;
}

function findSpace(path: string, free: number): readonly Result[] {
  if (free >= space.low) return [];
  const message = `The disk with ${path} has only ${toSize(free)} of free space.`;
  const advice = 'Free some space, or set PERCH_DATA_DIR to a directory on another disk.';
  return [free < space.full ? fault(message, advice) : warning(message, advice)];
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

function toSize(bytes: number): string {
  const mib = bytes / 2 ** 20;
  return mib < 1024 ? `${mib.toFixed(0)} MiB` : `${(mib / 1024).toFixed(1)} GiB`;
}

const checked = z.object({
  path: z.string(),
  damage: z.string().max(10_000).nullable(),
  schema: z.number(),
  code: z.string().nullable(),
});

/** Timeout in milliseconds, shorter than the deadline of all checks. */
const stopMs = 8000;

export async function checkDatabases(config: Config, signal: AbortSignal) {
  const folder = config.PERCH_DATA_DIR;
  const names = listOwnFilesIfReadable(folder);
  const paths = names.filter((name) => name.endsWith('.db')).map((name) => `${folder}/${name}`);
  const lost = findLostDatabases(config).map(({ name, loss }) =>
    warning(
      `${name} is missing in ${folder}, which Perch has used before. ${loss}.`,
      'Stop the server and restore a backup. Otherwise, the server creates an empty file at its next start.',
    ),
  );
  const secrets = names
    .filter((name) => name.endsWith('.key'))
    .flatMap((name) => findUnusable(`${folder}/${name}`));
  if (paths.length === 0) {
    return secrets.length > 0 ? [...lost, ...secrets] : [ok('There are no databases yet.')];
  }
  const { seen, failure } = await runIntegrity(paths, signal);
  const described = seen.flatMap((one) => describe(one, config));
  // A missing SQLite module has the same message for each database.
  const faults = [...new Map(described.map((one) => [one.message, one])).values()];
  const unseen = paths.filter((path) => !seen.some((one) => one.path === path));
  const late = unseen.length > 0 ? [describeUnseen(unseen, failure)] : [];
  const found = [...lost, ...secrets, ...faults, ...late];
  return found.length > 0
    ? found
    : [ok(`SQLite finds no errors in ${names.filter((name) => name.endsWith('.db')).join(', ')}.`)];
}

function findUnusable(path: string): readonly Result[] {
  try {
    readSecret(path);
    return [];
  } catch (error) {
    if (error instanceof UnusableSecretError) return [fault(error.message)];
    return isCode(error, 'EACCES')
      ? []
      : [fault(`The file ${path} cannot be read.`, 'Check that it is a file.')];
  }
}

type Checked = z.output<typeof checked>;

function describe({ path, damage, schema, code }: Checked, config: Config): readonly Result[] {
  if (damage !== null) {
    const [first = ''] = damage.split('\n').filter((line) => !line.startsWith('***'));
    const message = `The database ${path} is damaged: ${first.slice(0, 200)}`;
    return [fault(message, 'Stop the server, and restore a backup or move the file away.')];
  }
  if (code === null) return describeNewer(path, schema);
  const error = Object.assign(new Error(code), { code, path });
  return [fault(explainOpenError(error, config))];
}

function describeNewer(path: string, schema: number): readonly Result[] {
  if (schema <= (newestSchemaOf(basename(path)) ?? schema)) return [];
  const { message } = new NewerSchemaError(path, schema);
  return [fault(message, 'You can also restore a backup that this version has made.')];
}

function describeUnseen(paths: readonly string[], failure: string | null): Result {
  const files = paths.join(', ');
  if (failure !== null)
    return fault(
      `The check of ${files} failed: ${failure}`,
      'Please report this as a bug in Perch.',
    );
  const message = `${files} could not be checked within ${stopMs / 1000} seconds, because the file is large or the disk is slow.`;
  return warning(
    message,
    `Run \`sqlite3 ${paths[0]} 'PRAGMA integrity_check'\`, which has no time limit.`,
  );
}

async function runIntegrity(paths: readonly string[], signal: AbortSignal) {
  const { url, execArgv } = entryPoint('integrity', import.meta.url);
  const child = spawn(process.execPath, [...execArgv, fileURLToPath(url), ...paths], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {},
  });
  const kill = () => void child.kill('SIGKILL');
  const timer = setTimeout(kill, stopMs);
  if (signal.aborted) kill();
  signal.addEventListener('abort', kill, { once: true });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-2000);
  });
  const seen: Checked[] = [];
  createInterface(child.stdout).on('line', (line) => seen.push(checked.parse(JSON.parse(line))));
  const failed = await new Promise<boolean>((resolve) => {
    child.on('error', (error) => {
      errors = error.message;
      resolve(true);
    });
    child.on('close', (code) => resolve(code !== null && code !== 0));
  });
  clearTimeout(timer);
  signal.removeEventListener('abort', kill);
  return { seen, failure: failed ? errors.trim() : null };
}
