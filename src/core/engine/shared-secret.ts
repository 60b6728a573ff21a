import type { Random } from '../random.ts';
import type { Engine } from './engine.ts';

const deadlineMs = 2000;

/** Returns the 32-byte secret `name` from the shared engine, and creates it if missing. @throws EngineError */
export async function openSharedSecret(
  engine: Engine,
  name: string,
  random: Random,
): Promise<Buffer> {
  const key = `secret:${name}`;
  const text = await engine.run(async (client) => {
    await client.set(key, random.bytes(32).toString('hex'), { condition: 'NX' });
    return client.get(key);
  }, deadlineMs);
  return Buffer.from(text ?? '', 'hex');
}
