import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  giveToOwnerOf,
  isCode,
  makePrivateFolder,
  restrictToOwner,
  withPath,
} from './files/private-files.ts';
import type { Random } from './random.ts';
import type { Engine } from './redis/engine.ts';

export class UnusableSecretError extends Error {}

/** Returns or creates a secret, the same for concurrent processes. Throws UnusableSecretError. */
export function openSecret(path: string, random: Random): Buffer {
  try {
    return readPrivately(path);
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
  createSecret(path, random);
  return readPrivately(path);
}

function readPrivately(path: string): Buffer {
  try {
    return readSecret(path);
  } finally {
    restrictToOwner(path);
  }
}

/** Reads a secret. Throws UnusableSecretError if it is invalid, Error if the file is unreadable. */
export function readSecret(path: string): Buffer {
  const text = withPath(path, () => readFileSync(path, 'utf8').trim());
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new UnusableSecretError(
      `The file ${path} does not contain a secret of 64 hex digits. Restore it from a backup, or delete it: the next start creates a new secret.`,
    );
  }
  return Buffer.from(text, 'hex');
}

function createSecret(path: string, random: Random): void {
  makePrivateFolder(dirname(path));
  const draft = `${path}.${random.bytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, `${random.bytes(32).toString('hex')}\n`, { mode: 0o600 });
    giveToOwnerOf(dirname(path), draft);
    linkSync(draft, path);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Milliseconds for each step: waiting until the engine answers, and requesting the secret. */
const deadlineMs = 2000;

/** Returns a 32-byte secret, created if missing. Waits 2 seconds, then throws EngineError. */
export async function openSharedSecret(
  engine: Engine,
  name: string,
  random: Random,
): Promise<Buffer> {
  const key = `secret:${name}`;
  // A single slow reply marks the engine as down until the next probe. A start should survive that.
  await engine.waitUntilUp(deadlineMs);
  const text = await engine.run(async (client) => {
    await client.set(key, random.bytes(32).toString('hex'), { condition: 'NX' });
    return client.get(key);
  }, deadlineMs);
  return Buffer.from(text ?? '', 'hex');
}
