import type { Random } from '../random.ts';
import type { Engine } from './engine.ts';

/**
 * Maximum time in milliseconds to wait until the engine answers. The request for the secret has the
 * same limit.
 */
const deadlineMs = 2000;

/**
 * Returns the 32-byte secret `name` from the shared engine, and creates the secret if it is
 * missing. During an outage, first waits for up to 2 seconds until the engine answers.
 * @throws EngineError if the engine fails
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
