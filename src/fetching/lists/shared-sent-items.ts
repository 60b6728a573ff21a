import { createHash } from 'node:crypto';
import type { Engine } from '../../core/engine/engine.ts';

/** Hashes of list items already returned, by position in the list. All instances share them. */
export interface SharedSentItems {
  read(name: string): Promise<Float64Array | undefined>;
  write(name: string, sent: Float64Array): Promise<void>;
}

const lifetimeMs = 3_600_000;

/** Opens the store that all instances share. If the server fails, reads return `undefined`. */
export function createSharedSentItems(engine: Engine): SharedSentItems {
  return {
    read: async (name) => {
      const text = await engine.run((client) => client.get(keyOf(name))).catch(() => null);
      if (text === null) return undefined;
      const bytes = Uint8Array.from(Buffer.from(text, 'base64'));
      return new Float64Array(bytes.buffer);
    },
    write: async (name, { buffer, byteOffset, byteLength }) => {
      const text = Buffer.from(buffer, byteOffset, byteLength).toString('base64');
      const expiration = { type: 'PX', value: lifetimeMs } as const;
      await engine.run((client) => client.set(keyOf(name), text, { expiration })).catch(() => {});
    },
  };
}

const keyOf = (name: string): string =>
  `sent:${createHash('sha256').update(name).digest('base64url')}`;
