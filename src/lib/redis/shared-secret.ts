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
  const key = `secret:${name}`;
  // A single slow reply marks the engine as down until the next probe. A start should survive that.
  await engine.waitUntilUp(deadlineMs);
  const text = await engine.run(async (client) => {
    await client.set(key, random.bytes(32).toString('hex'), { condition: 'NX' });
    return client.get(key);
  }, deadlineMs);
  return Buffer.from(text ?? '', 'hex');
}
