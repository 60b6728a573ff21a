import { Problem } from '../core/problem.ts';
import { errorCodeOf } from '../core/sqlite.ts';
import type { KeyFileFault, KeyFileTrouble } from './key-file-look.ts';

/** What is wrong and what to do, for the operator. No path: the admin routes show it too. */
const details: Readonly<Record<KeyFileFault, string>> = {
  missing:
    'There is no key store: `perch.db` is not in the data directory. Put a copy of it there, or create a key, which makes a new store.',
  empty:
    'The key store `perch.db` in the data directory is empty, zero bytes long. Put a copy in its place, or create a key, which makes a new store.',
  not_a_file:
    'What is called `perch.db` in the data directory is no file. Move it away, then put the key store there, or create a key, which makes a new one.',
  locked:
    'The key store `perch.db` is locked by another program. Wait for it or end it, then try again.',
  damaged:
    'The key store `perch.db` in the data directory is damaged, or is none of this version of Perch. Put a copy in its place; or move it away and create a key, which makes a new store.',
  unreadable:
    'The key store `perch.db` in the data directory cannot be read or written. Look at its permissions and at the disk.',
  closed: 'The key store is closed, because the server is stopping.',
};

/** Gives the problem of an operator who asked for keys that cannot be read or changed. */
export function toKeyProblem({ fault, error }: KeyFileTrouble): Problem {
  const code = fault === 'unreadable' ? errorCodeOf(error) : undefined;
  const detail = code === undefined ? details[fault] : `${details[fault]} (${code})`;
  return new Problem('key_store_unavailable', { detail, cause: error });
}
