import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { closeToOthers, isCode, makePrivateFolder, withPath } from './files/private-files.ts';
import type { Random } from './random.ts';

/** A file that should hold a secret holds something else. */
export class UnusableSecretError extends Error {}

/**
 * Returns the secret in a file, and creates one on the first start; processes that start together get the same one.
 *
 * @throws Error if the file cannot be read or written, or holds no secret
 */
export function openSecret(path: string, random: Random): Buffer {
  try {
    return readSecret(path);
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
  makeSecret(path, random);
  return readSecret(path);
}

function readSecret(path: string): Buffer {
  const text = withPath(path, () => readFileSync(path, 'utf8').trim());
  closeToOthers(path);
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new UnusableSecretError(
      `The file ${path} holds no secret of 64 hex digits. Put a copy back, or delete it: the next start creates another secret.`,
    );
  }
  return Buffer.from(text, 'hex');
}

/** The file appears whole, and the first one stays: a link is made where none is yet, or not at all. */
function makeSecret(path: string, random: Random): void {
  makePrivateFolder(dirname(path));
  const draft = `${path}.${random.bytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, `${random.bytes(32).toString('hex')}\n`, { mode: 0o600 });
    linkSync(draft, path);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
