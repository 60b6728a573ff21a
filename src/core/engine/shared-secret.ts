import type { Random } from '../random.ts';
import type { Engine } from './engine.ts';

/**
 * Maximum time in milliseconds for each of two steps: waiting until the shared Valkey or Redis
 * server answers, and requesting the secret from it.
 */
const deadlineMs = 2000;

/**
 * Returns the 32-byte secret `name` from the shared Valkey or Redis server. Creates the secret if
 * it is missing. During an outage, first waits for up to 2 seconds until the server answers.
 * @throws EngineError if the server fails
 */
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
