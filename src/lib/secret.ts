import { generateKeyPairSync } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
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

interface SecretForm {
  /** Noun for error messages. */
  readonly noun: string;
  readonly pattern: RegExp;
  readonly create: (random: Random) => string;
}

const bytesForm: SecretForm = {
  noun: 'a secret of 64 hex digits',
  pattern: /^[0-9a-f]{64}$/,
  create: (random) => random.bytes(32).toString('hex'),
};

const keyForm: SecretForm = {
  noun: 'a private key in PEM format',
  pattern: /^-----BEGIN PRIVATE KEY-----\n[\w+/=\n]{1000,4000}\n-----END PRIVATE KEY-----$/,
  create: createRsaKey,
};

/** Creates an RSA key, which all ActivityPub servers accept; `Random` cannot make it. */
export function createRsaKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim();
}

/** Returns the form of the secret in a file, which depends on the name of the file. */
export const secretFormOf = (path: string): SecretForm =>
  basename(path) === 'actor.key' ? keyForm : bytesForm;

/** Returns or creates a secret, the same for concurrent processes. Throws UnusableSecretError. */
export function openSecret(path: string, random: Random): Buffer {
  return Buffer.from(openSecretText(path, random), 'hex');
}

/** As `openSecret`, but returns the text of the file. */
export function openSecretText(path: string, random: Random): string {
  try {
    return readPrivately(path);
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
  createSecret(path, random);
  return readPrivately(path);
}

function readPrivately(path: string): string {
  try {
    return readSecret(path);
  } finally {
    restrictToOwner(path);
  }
}

/** Reads a secret. Throws UnusableSecretError if it is invalid, Error if the file is unreadable. */
export function readSecret(path: string): string {
  const text = withPath(path, () => readFileSync(path, 'utf8').trim());
  const { pattern, noun } = secretFormOf(path);
  if (!pattern.test(text)) {
    throw new UnusableSecretError(
      `The file ${path} does not contain ${noun}. Restore it from a backup, or delete it: the next start creates a new secret.`,
    );
  }
  return text;
}

function createSecret(path: string, random: Random): void {
  makePrivateFolder(dirname(path));
  const draft = `${path}.${random.bytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, `${secretFormOf(path).create(random)}\n`, { mode: 0o600 });
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
  const create = () => random.bytes(32).toString('hex');
  return Buffer.from(await openSharedText(engine, name, create), 'hex');
}

/** As `openSharedSecret`, for a secret of another form. */
export async function openSharedText(
  engine: Engine,
  name: string,
  create: () => string,
): Promise<string> {
  const key = `secret:${name}`;
  // A single slow reply marks the engine as down until the next probe. A start should survive that.
  await engine.waitUntilUp(deadlineMs);
  const text = await engine.run(async (client) => {
    const known = await client.get(key);
    if (known !== null) return known;
    await client.set(key, create(), { condition: 'NX' });
    return client.get(key);
  }, deadlineMs);
  return text ?? '';
}
