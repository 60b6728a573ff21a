import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Random } from './random.ts';

const secretBytes = 32;

/**
 * Gives the secret that a file keeps, and makes one on the first start. Processes that start
 * together on one folder get the same one.
 *
 * @throws Error when the file cannot be read or written, or holds no secret.
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
  const text = readFileSync(path, 'utf8').trim();
  if (!/^[0-9a-f]{64}$/.test(text)) throw new Error(`${path} holds no secret of 64 hex digits`);
  return Buffer.from(text, 'hex');
}

/** The file appears whole, and the first one stays: a link is made where none is yet, or not at all. */
function makeSecret(path: string, random: Random): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${random.bytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, `${random.bytes(secretBytes).toString('hex')}\n`, { mode: 0o600 });
    linkSync(draft, path);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
