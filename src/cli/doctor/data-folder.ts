import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as z from 'zod';
import type { Config } from '../../config/config.ts';
import { entryPoint } from '../../lib/entry-point.ts';
import { listOwnFiles, listOwnFilesIfReadable } from '../../lib/files/data-folder.ts';
import { isAccessibleByOthers, isCode } from '../../lib/files/private-files.ts';
import { NewerSchemaError } from '../../lib/files/sqlite.ts';
import { parseJson } from '../../lib/http/json-bodies.ts';
import { readSecret, UnusableSecretError } from '../../lib/secret.ts';
import { findLostDatabases } from '../../server/wiring/lost-databases.ts';
import { freeBytesOf, newestSchemaOf, toSize } from '../backup/manifest.ts';
import { explainOpenError } from '../output/explain.ts';
import { countOf } from '../output/output.ts';
import { fault, ok, type Result, warning } from './finding.ts';

/** Free space in bytes below which the disk counts as full, or as nearly full. */
const space = { full: 64e6, low: 1e9 } as const;

/** Checks that the folder is usable and private, and that its disk has enough free space. */
export function checkDataFolder(config: Config, freeBytes = freeBytesOf): readonly Result[] {
  if (config.PERCH_DATA_DIR === ':memory:') {
    return [ok('Perch stores nothing on disk, because PERCH_DATA_DIR is :memory:.')];
  }
  const path = resolve(config.PERCH_DATA_DIR);
  const existing = findExisting(path);
  const isMissing = existing !== path;
  try {
    const names = listOwnFiles(existing);
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK);
    const found = isMissing ? [] : findAccess(path, names);
    const free = freeBytes(existing);
    found.push(...findSpace(existing, free));
    if (found.length > 0) return found;
    const use = isMissing ? `Perch will create ${path} at the first start` : `${path} can be used`;
    return [ok(`${use}; ${toSize(free)} are free.`)];
  } catch (error) {
    return [fault(explainOpenError(error, config))];
  }
}

/** Returns `path` if it exists, otherwise the innermost parent folder that exists. */
function findExisting(path: string): string {
  try {
    statSync(path);
    return path;
  } catch (error) {
    // Without the permission to search a folder, the result is this folder, because nothing below
    // it can be found.
    const isExpected = isCode(error, 'ENOENT', 'ENOTDIR', 'EACCES') && path !== dirname(path);
    if (isExpected) return findExisting(dirname(path));
    throw error;
  }
}

/** Finds files that other users can access or own. Throws Error if a file cannot be used. */
function findAccess(path: string, names: readonly string[]): Result[] {
  const stats = statSync(path);
  const found: Result[] = [];
  if (isAccessibleByOthers(stats)) {
    const mode = (stats.mode & 0o7777).toString(8);
    const message = `Other users can access the data directory ${path} (its permissions are ${mode}).`;
    found.push(warning(message, `Run \`chmod 700 ${path}\`.`));
  }
  const foreign = names.filter((name) => {
    const file = statSync(`${path}/${name}`, { throwIfNoEntry: false });
    if (file !== undefined) accessSync(`${path}/${name}`, constants.R_OK | constants.W_OK);
    return file !== undefined && file.uid !== stats.uid;
  });
  if (foreign.length > 0) {
    const files = `${countOf(foreign.length, 'file')} in ${path}, such as ${foreign[0]},`;
    const message = `${files} and the directory itself belong to different users.`;
    const advice = `Run \`chown -R USER ${path}\` with the user that runs the server.`;
    found.push(warning(message, advice));
  }
  return found;
}

function findSpace(path: string, free: number): readonly Result[] {
  if (free >= space.low) return [];
  const message = `The disk with ${path} has only ${toSize(free)} of free space.`;
  const advice = 'Free some space, or set PERCH_DATA_DIR to a directory on another disk.';
  return [free < space.full ? fault(message, advice) : warning(message, advice)];
}

/** Timeout in milliseconds, shorter than the deadline of all checks. */
const stopMs = 8000;

export async function checkDatabases(config: Config, timeoutMs = stopMs) {
  const folder = config.PERCH_DATA_DIR;
  const names = listOwnFilesIfReadable(folder);
  const databases = names.filter((name) => name.endsWith('.db'));
  const lost = findLostDatabases(config).map(({ name, loss }) =>
    warning(
      `${name} is missing in ${folder}, which Perch has used before. ${loss}.`,
      'Stop the server and restore a backup. Otherwise, the server creates an empty file at its next start.',
    ),
  );
  const secrets = names.filter((name) => name.endsWith('.key'));
  const unusable = secrets.flatMap((name) => checkSecret(`${folder}/${name}`));
  const faults = await Promise.all(databases.map((name) => checkDatabase(name, config, timeoutMs)));
  // A missing SQLite module has the same message for each database.
  const unique = new Map(faults.flat().map((one) => [one.message, one]));
  const found = [...lost, ...unusable, ...unique.values()];
  if (found.length > 0) return found;
  if (databases.length === 0) return [ok('There are no databases yet.')];
  return [ok(`SQLite finds no errors in ${databases.join(', ')}.`)];
}

function checkSecret(path: string): readonly Result[] {
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

const integrity = z.object({
  damage: z.string().nullable(),
  schema: z.number(),
  code: z.string().nullable(),
});

/** Checks a database in a process of its own, because SQLite's check cannot be interrupted. */
async function checkDatabase(
  name: string,
  config: Config,
  timeout: number,
): Promise<readonly Result[]> {
  const path = `${config.PERCH_DATA_DIR}/${name}`;
  const { url, execArgv } = entryPoint('integrity', import.meta.url);
  const args = [...execArgv, fileURLToPath(url), path];
  const options = { timeout, killSignal: 'SIGKILL', env: {} } as const;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, options);
    return describe(path, integrity.parse(parseJson(stdout)), config);
  } catch (error) {
    if (!(error instanceof Error && 'killed' in error && error.killed)) throw error;
    const message = `${path} could not be checked within ${stopMs / 1000} seconds, because the file is large or the disk is slow.`;
    const advice = `Run \`sqlite3 ${path} 'PRAGMA integrity_check'\`, which has no time limit.`;
    return [warning(message, advice)];
  }
}

function describe(
  path: string,
  { damage, schema, code }: z.output<typeof integrity>,
  config: Config,
): readonly Result[] {
  if (code !== null) {
    return [fault(explainOpenError(Object.assign(new Error(code), { code, path }), config))];
  }
  if (damage !== null) {
    const [first = ''] = damage.split('\n').filter((line) => !line.startsWith('***'));
    const message = `The database ${path} is damaged: ${first.slice(0, 200)}`;
    return [fault(message, 'Stop the server, and restore a backup or move the file away.')];
  }
  if (schema <= (newestSchemaOf(basename(path)) ?? schema)) return [];
  const { message } = new NewerSchemaError(path, schema);
  return [fault(message, 'You can also restore a backup that this version has made.')];
}
