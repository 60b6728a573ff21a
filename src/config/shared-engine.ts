import { z } from 'zod';
import { parseEngineUrl } from '../core/engine/engine-url.ts';
import { flag, integer, secret } from './schemas.ts';

export const engineVariables = z.object({
  PERCH_REDIS_URL: secret(
    z
      .string()
      .refine(
        (url) => parseEngineUrl(url) !== null,
        'must be a URL such as `redis://localhost:6379`, `rediss://user:password@example.org:6380`, `redis+sentinel://host1,host2/primary-name/0` or `redis+cluster://host1,host2`',
      )
      .optional()
      .describe(
        'URL of a Valkey or Redis server (version 7 or later) that several instances of Perch share: `redis://`, `rediss://` (TLS), `redis+sentinel://host1,host2/primary/0` or `redis+cluster://host1,host2`. Default: one instance, which stores everything in the data directory.',
      ),
  ),
  PERCH_REDIS_CA_FILE: z
    .string()
    .optional()
    .describe(
      'Path of a PEM file with the certificates of the authorities that Perch trusts for `rediss://`, such as a private authority. Default: the authorities of Node.js.',
    ),
  PERCH_REDIS_PREFIX: z
    .string()
    .regex(/^[\w.:-]{1,64}$/, 'must have 1 to 64 letters, digits, `_`, `.`, `:` and `-`')
    .default('perch:')
    .describe(
      'Prefix of the names of all keys in the Valkey or Redis server. Instances with the same prefix work together.',
    ),
  PERCH_REDIS_TIMEOUT_MS: integer(1, 10_000, 50).describe(
    'Timeout in milliseconds for a call to the Valkey or Redis server during a read. After a timeout, Perch works without this server until the server responds in time again.',
  ),
  PERCH_REDIS_WAIT_REPLICAS: integer(0, 16, 0).describe(
    'Number of replicas that must have received a session event before Perch confirms the event to the client. With `0`, a failover can lose the most recent events.',
  ),
  PERCH_REDIS_ALLOW_VOLATILE: flag(false).describe(
    'Whether Perch stores sessions in a Valkey or Redis server without an append-only file. With `true`, a restart of this server can delete sessions.',
  ),
});
