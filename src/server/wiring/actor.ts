import { createPrivateKey, createPublicKey } from 'node:crypto';
import { createRsaKey, openSecretText, openSharedText } from '../../lib/secret.ts';
import { type Actor, toActor } from '../../routes/discovery/actor-plugin.ts';
import type { AppContext } from '../context.ts';

/** Opens the instance actor with its key, created if missing; `null` unless `PERCH_ACTOR`. */
export async function openActor({ config, random, redis }: AppContext): Promise<Actor | null> {
  if (!config.PERCH_ACTOR) return null;
  const pem = redis
    ? await openSharedText(redis, 'actor', createRsaKey)
    : openSecretText(`${config.PERCH_DATA_DIR}/actor.key`, random);
  const privateKey = createPrivateKey(pem);
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
  return toActor(config.PERCH_BASE_URL, { privateKey, publicKeyPem: publicKey.toString() });
}
