import type { Random } from '../random.ts';
import type { Engine } from './engine.ts';

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
