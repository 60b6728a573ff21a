import { z } from 'zod';
import { isPublicUrl } from '../lib/http/public-host.ts';
import { parseUrl } from '../lib/http/url.ts';
import { parseEngineUrl } from '../lib/redis/engine-url.ts';
import { flag, httpUrl, integer, secret, text } from './schemas.ts';
import type { SettingFault } from './sources.ts';

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

export const modelVariables = z.object({
  // Some services put a key into the path of the URL.
  PERCH_MODEL_URL: secret(
    httpUrl
      .refine(
        (url) => !url.endsWith('/chat/completions'),
        'must be the base URL, because Perch appends /chat/completions to it',
      )
      .optional()
      .describe(
        'Base URL of an OpenAI-compatible API, such as `http://localhost:11434/v1`. Perch appends `/chat/completions` to this URL. If this variable is not set, Perch answers questions without a language model.',
      ),
  ),
  PERCH_MODEL: text(
    /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/,
    'must have 1 to 200 printable ASCII characters, without a space at either end',
  ).describe('Name of the language model. Required if `PERCH_MODEL_URL` is set.'),
  PERCH_MODEL_KEY: secret(
    text(
      /^[\x21-\x7e]{1,4096}$/,
      'must have 1 to 4096 printable ASCII characters, without spaces',
    ).describe('Bearer token for the API at `PERCH_MODEL_URL`, if this API requires a token.'),
  ),
  PERCH_MODEL_STALL_SECONDS: integer(1, 600, 15).describe(
    'Seconds without output from the language model after which Perch answers the question without the model.',
  ),
  PERCH_MODEL_CONTEXT_CHARACTERS: integer(4000, 1_000_000, 12_000).describe(
    'Maximum number of characters that Perch sends to the language model for one question, including instructions, passages of the documents, and earlier questions and answers.',
  ),
  PERCH_MODEL_RERANK: flag(false).describe(
    'Whether the language model first sorts up to 16 passages by how well they answer the question. This costs a second request for each question, which may take up to five seconds.',
  ),
});

/** Returns an error for each missing variable of the language model, if any other one is set. */
function modelFaults(set: Record<string, string | undefined>): readonly SettingFault[] {
  const { PERCH_MODEL_URL: url, PERCH_MODEL: model, PERCH_MODEL_KEY: key } = set;
  const names = ['PERCH_MODEL_URL', 'PERCH_MODEL', 'PERCH_MODEL_KEY'];
  const faults: SettingFault[] = [];
  if (url !== undefined && model === undefined) {
    const message =
      'PERCH_MODEL must be set to the name of a model, because PERCH_MODEL_URL is set.';
    faults.push({ names, message });
  }
  if (url === undefined && (model !== undefined || key !== undefined)) {
    const because = model === undefined ? 'PERCH_MODEL_KEY' : 'PERCH_MODEL';
    const message = `PERCH_MODEL_URL must be set to the API of the model, because ${because} is set.`;
    faults.push({ names, message });
  }
  return faults;
}

const actorVariables = z.object({
  PERCH_ACTOR: flag(false).describe(
    'Whether Perch signs its requests to ActivityPub servers as the instance actor at `/actor`. Some servers answer only signed requests. Requires a public `https:` URL without a path in `PERCH_BASE_URL`, at which these servers can read the actor. The key of the actor is in `actor.key` in the data directory.',
  ),
});

/** Returns an error if other servers could not read or recognize the actor. */
function actorFaults(set: Record<string, string | undefined>): readonly SettingFault[] {
  const { PERCH_BASE_URL: baseUrl = '', PERCH_DATA_DIR: folder, PERCH_REDIS_URL: redis } = set;
  if (!actorVariables.safeParse(set).data?.PERCH_ACTOR) return [];
  const url = parseUrl(baseUrl);
  const names = ['PERCH_ACTOR', 'PERCH_BASE_URL'];
  if (url === null || !isPublicUrl(url) || url.pathname !== '/') {
    const message =
      'PERCH_ACTOR is set, so PERCH_BASE_URL must be a public https:// URL without a port or a path, such as `https://perch.example.org`: other servers read the actor there.';
    return [{ names, message }];
  }
  if (folder !== ':memory:' || redis !== undefined) return [];
  const message =
    'PERCH_ACTOR is set, so PERCH_DATA_DIR must not be `:memory:`: other servers remember the key of the actor, which Perch stores in the data directory.';
  return [{ names: ['PERCH_ACTOR', 'PERCH_DATA_DIR'], message }];
}

const watchVariables = z.object({
  PERCH_WEBHOOK_SECRET: secret(
    text(
      /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}(?:[A-Za-z0-9+/]{2}|[A-Za-z0-9+/]=|==))?$/,
      'must be whsec_ followed by 24 to 64 bytes in base64',
    ).describe(
      'Secret that signs the messages of `perch watch --webhook`, in the format of Standard Webhooks: `whsec_` followed by 24 to 64 random bytes in base64. The receiver needs the same secret to check the messages.',
    ),
  ),
});

/** Schemas of the variables for Redis, the language model, the instance actor and webhooks. */
export const serviceVariables = z.object({
  ...engineVariables.shape,
  ...modelVariables.shape,
  ...actorVariables.shape,
  ...watchVariables.shape,
});

/** Returns an error for each combination of these variables that cannot work. */
export const serviceFaults = (set: Record<string, string | undefined>) => [
  ...modelFaults(set),
  ...actorFaults(set),
];
