import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { findLostDatabases } from '../../app/open/lost-databases.ts';
import type { Config } from '../../config/config.ts';
import { entryPoint } from '../../core/entry-point.ts';
import { listOwnFilesIfReadable, savedDatabases } from '../../core/files/data-folder.ts';
import { isCode } from '../../core/files/private-files.ts';
import { NewerSchemaError } from '../../core/files/sqlite.ts';
import { readSecret, UnusableSecretError } from '../../core/secret.ts';
import { newestSchemaOf } from '../backup/check-file.ts';
import { explainOpenError } from '../output/explain.ts';
import { fault, ok, type Result, warning } from './finding.ts';

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
    if (error instanceof UnusableSecretError)
      return [{ status: 'fault', message: error.message, advice: null }];
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
  return [{ status: 'fault', message: explainOpenError(error, config), advice: null }];
}

function describeNewer(path: string, schema: number): readonly Result[] {
  const name = savedDatabases.find((one) => path.endsWith(`/${one}`));
  const newest = name === undefined ? null : newestSchemaOf(name);
  if (newest === null || schema <= newest) return [];
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
