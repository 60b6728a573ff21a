import * as z from 'zod';
import { isPublicUrl } from '../lib/http/public-host.ts';
import { parseUrl } from '../lib/http/url.ts';
import { parseEngineUrl } from '../lib/redis/engine-url.ts';
import { isReservedName } from '../reads/addresses/own-paths.ts';
import {
  flag,
  httpUrl,
  integer,
  oneOf,
  optionalInteger,
  origins,
  secret,
  text,
} from './schemas.ts';
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

/** Returns an error if other servers could not read or recognize the actor. */
function actorFaults(set: Record<string, string | undefined>): readonly SettingFault[] {
  const { PERCH_BASE_URL: baseUrl = '', PERCH_DATA_DIR: folder, PERCH_REDIS_URL: redis } = set;
  if (!signingVariables.shape.PERCH_ACTOR.safeParse(set.PERCH_ACTOR).data) return [];
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

/** Variables of what Perch signs: requests to other servers, and messages of `perch watch`. */
export const signingVariables = z.object({
  PERCH_ACTOR: flag(false).describe(
    'Whether Perch signs its requests to ActivityPub servers as the instance actor at `/actor`. Some servers answer only signed requests. Requires a public `https:` URL without a path in `PERCH_BASE_URL`, at which these servers can read the actor. The key of the actor is in `actor.key` in the data directory.',
  ),
  PERCH_WEBHOOK_SECRET: secret(
    text(
      /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}(?:[A-Za-z0-9+/]{2}|[A-Za-z0-9+/]=|==))?$/,
      'must be whsec_ followed by 24 to 64 bytes in base64',
    ).describe(
      'Secret that signs the messages of `perch watch --webhook`, in the format of Standard Webhooks: `whsec_` followed by 24 to 64 random bytes in base64. The receiver needs the same secret to check the messages.',
    ),
  ),
});

export const limitVariables = z.object({
  PERCH_CONNECTIONS: integer(1, 1_000_000, 10_000).describe(
    'Maximum number of open connections. Perch accepts fewer if the open-file limit of the process is low.',
  ),
  PERCH_CONNECTIONS_PER_ADDRESS: integer(1, 1_000_000, 256).describe(
    'Maximum number of open connections from one client address. Connections from the proxies in `PERCH_TRUST_PROXY` are not counted.',
  ),
  PERCH_MAX_UPSTREAM_READS: integer(1, 100_000, 256).describe(
    'Maximum number of reads that wait for an upstream at the same time. Perch refuses further reads with the error `overloaded`.',
  ),
  PERCH_UPSTREAM_READS_PER_ADDRESS: integer(1, 100_000, 64).describe(
    'Maximum number of reads from one client address that wait for an upstream at the same time.',
  ),
  PERCH_UPSTREAM_READS_PER_HOST: integer(1, 100_000, 16).describe(
    'Maximum number of concurrent requests to one Mastodon server.',
  ),
  PERCH_UPSTREAM_BYTES: integer(1_048_576, 68_719_476_736, 33_554_432).describe(
    'Maximum total size of the upstream responses that Perch receives or parses at the same time, in bytes.',
  ),
  PERCH_UPSTREAM_BYTES_PER_ADDRESS: integer(1_048_576, 68_719_476_736, 16_777_216).describe(
    'Maximum total size of the upstream responses that Perch receives or parses at the same time for one client address, in bytes.',
  ),
  PERCH_REPLY_BYTES: integer(1_048_576, 68_719_476_736, 67_108_864).describe(
    'Maximum total size in bytes of the responses that clients have not received yet, and of the request bodies that Perch is receiving. A cached response counts once, however many clients are receiving it.',
  ),
  PERCH_REPLY_BYTES_PER_ADDRESS: integer(1_048_576, 68_719_476_736, 16_777_216).describe(
    'Maximum total size in bytes of the responses that one client address has not received yet, and of its request bodies.',
  ),
  PERCH_ARCHIVE_HISTORY: flag(false).describe(
    'Whether Perch stores histories in the archive. A history is the response to one request for the posts of an account in a date range. For a later history of the same account, Perch then fetches only the missing posts.',
  ),
  PERCH_ARCHIVE_HISTORY_BYTES: integer(1_048_576, 1_125_899_906_842_624, 1_073_741_824).describe(
    'Maximum total size of the histories that Perch stores in the archive, in bytes. If it is exceeded, Perch deletes the stored histories of the accounts that it has read the longest ago.',
  ),
  PERCH_ARCHIVE_MEDIA_BYTES: integer(0, 1_125_899_906_842_624, 10_737_418_240).describe(
    'Maximum total size of the pictures, videos and sounds that imports copy into the archive, in bytes. Imports leave out further files. With `0`, imports copy no files.',
  ),
  PERCH_ARCHIVE_MEDIA_FILE_BYTES: integer(0, 1_099_511_627_776, 1_073_741_824).describe(
    'Maximum size of one picture, video or sound that imports copy into the archive, in bytes.',
  ),
  PERCH_HISTORY_TIMEOUT_MS: integer(100, 3_600_000, 120_000).describe(
    'Timeout in milliseconds for one NDJSON history. For other formats, `PERCH_READ_TIMEOUT_MS` applies.',
  ),
  PERCH_HISTORY_CONCURRENCY: integer(1, 64, 48).describe(
    'Maximum number of pages that Perch requests from an upstream at the same time for one history.',
  ),
  PERCH_HISTORY_IMPORTS: integer(1, 1000, 16).describe(
    'Maximum number of concurrent histories. Perch refuses further histories with the error `overloaded`.',
  ),
  PERCH_HISTORY_IMPORTS_PER_ADDRESS: integer(1, 1000, 2).describe(
    'Maximum number of concurrent histories for one client address.',
  ),
});

export const pictureVariables = z.object({
  PERCH_MEDIA: oneOf('proxy', 'direct', 'off').describe(
    'Pictures of posts in pages, feeds and embeds: Perch fetches them from their hosts for the reader (`proxy`), the browser of the reader fetches them from their hosts (`direct`), or the posts only link to them (`off`).',
  ),
  PERCH_MEDIA_MAX_BYTES: integer(1024, 1_073_741_824, 10_485_760).describe(
    'Maximum size in bytes of a picture that Perch fetches. Perch also refuses pictures that are larger than `PERCH_REPLY_BYTES_PER_ADDRESS`.',
  ),
  PERCH_MEDIA_CACHE_BYTES: integer(0, 1_099_511_627_776, 1_073_741_824).describe(
    'Maximum size in bytes of the cache of pictures, the folder `media-cache` in the data directory. Perch deletes the least recently used pictures first. With `PERCH_DATA_DIR=:memory:`, the cache is in memory, and its maximum size is 32 MiB.',
  ),
  PERCH_MEDIA_ALLOWANCE: integer(1, 1_000_000, 600).describe(
    'Allowance of each client address for pictures: maximum number of pictures that Perch fetches in the period `PERCH_ALLOWANCE_WINDOW_SECONDS`. Pictures from the cache do not count.',
  ),
});

const defaultSegment = 'svc';

export const sessionVariables = z.object({
  PERCH_SESSIONS: flag(true).describe(
    'Whether clients can ask questions in sessions and on `/docs/ask`.',
  ),
  PERCH_KEEP_DECLINED_QUESTIONS: integer(0, 1000, 0).describe(
    'Number of declined questions that Perch keeps in memory and shows to the operator on the page *Answers* of the dashboard (`/admin/answers`). A declined question is a question without an answer in the documents. `0` keeps no questions.',
  ),
  PERCH_SESSION_PREFIX: z
    .string()
    .regex(
      /^[a-z][a-z0-9-]{0,31}$/,
      'must start with a lower-case letter and have at most 32 lower-case letters, digits and hyphens',
    )
    .refine(
      (segment) => segment === defaultSegment || !isReservedName(segment),
      'must not be a path that Perch already uses',
    )
    .default(defaultSegment)
    .describe(
      'First path segment of the session routes. By default, the paths of these routes are `/svc/v1/…`.',
    ),
  PERCH_SESSION_STORE: oneOf('file', 'memory').describe(
    'Storage of sessions: the file `sessions.db` in the data directory (`file`), or only memory (`memory`). With `memory`, a restart deletes all sessions.',
  ),
  PERCH_SESSION_REQUIRE_BEARER: flag(false).describe(
    'Whether all session routes except the health check require a bearer token. Perch accepts any token.',
  ),
  PERCH_SESSION_BIND_BEARER: flag(false).describe(
    'Whether a session accepts only requests with the bearer token that started the session.',
  ),
  PERCH_SESSION_TOKEN: oneOf('required', 'optional').describe(
    'Whether follow-up messages must include the continuation token of the session. The continuation token is the secret that the client receives when it starts a session.',
  ),
  PERCH_SESSION_STREAM_TOKEN: oneOf('proven', 'always').describe(
    'Clients that receive the continuation token in the events of a stream: only clients that sent this token in the request for the stream (`proven`), or all clients (`always`).',
  ),
  PERCH_SESSION_ORIGINS: origins.describe(
    'Additional web origins whose pages may use sessions, separated by commas. `*` allows all origins. The origin of Perch is always allowed.',
  ),
  PERCH_SESSION_MESSAGE_BYTES: integer(1, 10_000_000, 65_536).describe(
    'Maximum size of a message in bytes.',
  ),
  PERCH_SESSION_BODY_BYTES: integer(1024, 100_000_000, 524_288).describe(
    'Maximum size of the body of a session request in bytes.',
  ),
  PERCH_SESSION_TURN_SECONDS: integer(1, 3600, 120).describe(
    'Timeout in seconds for one turn. A turn is one message and its answer.',
  ),
  PERCH_SESSION_TURNS_AT_ONCE: optionalInteger(1, 1024).describe(
    'Maximum number of turns that Perch runs at the same time. Default: eight times the number of CPU cores.',
  ),
  PERCH_SESSION_QUEUE: integer(0, 1000, 8).describe(
    'Maximum number of messages of one session that can wait while Perch answers an earlier message.',
  ),
  PERCH_SESSION_TURNS: integer(1, 100_000, 500).describe(
    'Number of turns after which a session ends.',
  ),
  PERCH_SESSION_BYTES_PER_SESSION: integer(65_536, 10_000_000_000, 33_554_432).describe(
    'Maximum size of a stored session in bytes. A session that reaches this size ends after its running turn.',
  ),
  // More than the 400 messages that one address may send at once.
  PERCH_SESSION_TURNS_PER_ADDRESS: integer(1, 1_000_000, 512).describe(
    'Maximum number of waiting and running turns of one client address, including questions on `/docs/ask`.',
  ),
  PERCH_SESSION_WAITING_TURNS: integer(1, 1_000_000, 4096).describe(
    'Maximum number of waiting and running turns of all client addresses, including questions on `/docs/ask`.',
  ),
  PERCH_SESSION_TURNS_PER_MINUTE: optionalInteger(1, 1_000_000).describe(
    'Maximum number of messages that one client address may send in a minute, including first messages, follow-up messages and questions on `/docs/ask`. Perch counts them in windows of 20 seconds, in each of which a third of this number may arrive, also at once. Default: 1200, or 60 with a language model.',
  ),
  PERCH_SESSION_LIVE: integer(1, 1_000_000, 10_000).describe(
    'Maximum number of active sessions (sessions that have not ended). Further session starts return 503 until a session ends or expires.',
  ),
  PERCH_SESSION_LIVE_PER_ADDRESS: integer(1, 1_000_000, 1000).describe(
    'Maximum number of active sessions of one client address. If the address starts a further session, Perch ends the least recently used session of that address.',
  ),
  PERCH_SESSION_BYTES: optionalInteger(1_048_576, 1_000_000_000_000).describe(
    'Maximum size of all stored sessions in bytes, including sessions that have ended. Further messages return 503 until sessions expire. Default: 1 GiB in a file, 128 MiB in memory.',
  ),
  PERCH_SESSION_BYTES_PER_ADDRESS: integer(1_048_576, 1_000_000_000_000, 67_108_864).describe(
    'Maximum size of the stored sessions of one client address in bytes, including sessions that have ended. For further messages, Perch deletes sessions of that address, ended sessions first.',
  ),
  PERCH_SESSION_STARTS_PER_MINUTE: integer(1, 1_000_000, 600).describe(
    'Maximum number of sessions that one client address may start in a minute, with any number of bearer tokens. Clients with the same bearer token may together start four times as many sessions, from any number of addresses.',
  ),
  PERCH_SESSION_START_BURST: integer(1, 1_000_000, 200).describe(
    'Maximum number of sessions that one client address may start at once. These sessions count towards `PERCH_SESSION_STARTS_PER_MINUTE`.',
  ),
  PERCH_SESSION_STREAMS_PER_SESSION: integer(1, 100_000, 64).describe(
    'Maximum number of open streams of one session.',
  ),
  PERCH_SESSION_STREAMS_PER_ADDRESS: integer(1, 1_000_000, 256).describe(
    'Maximum number of open streams of one client address.',
  ),
  PERCH_SESSION_STREAMS: integer(1, 1_000_000, 4096).describe(
    'Maximum number of open streams in total. One client address can use at most half of them.',
  ),
  PERCH_SESSION_IDLE_SECONDS: integer(1, 31_536_000, 86_400).describe(
    'Seconds after which a session ends if it has no new message and no running turn.',
  ),
  PERCH_SESSION_AGE_SECONDS: integer(1, 315_360_000, 2_592_000).describe(
    'Maximum age of a session in seconds. A session that reaches this age ends.',
  ),
  PERCH_SESSION_RETENTION_SECONDS: integer(0, 31_536_000, 86_400).describe(
    'Seconds for which clients can still read a session after it has ended. Then Perch deletes the session.',
  ),
  PERCH_SESSION_FORGET_SECONDS: integer(0, 315_360_000, 2_592_000).describe(
    'Seconds for which requests for a deleted session return 410. Later requests return 404.',
  ),
  // Streams are checked once a second, so a silence can last one second longer.
  PERCH_SESSION_HEARTBEAT_SECONDS: integer(1, 13, 10).describe(
    'Seconds without output after which Perch sends a space to keep the connection of a stream alive. Some clients close the connection after 15 seconds without output.',
  ),
  PERCH_SESSION_LEASE_SECONDS: integer(1, 3600, 60).describe(
    'Seconds for which a stream stays open if the request for the stream has the query parameter `streamControlVersion=1`.',
  ),
  PERCH_SESSION_FOLLOW_SECONDS: integer(1, 86_400, 900).describe(
    'Seconds for which a stream stays open if the request for the stream has the query parameter `follow=true`.',
  ),
  PERCH_SESSION_STALL_SECONDS: integer(1, 3600, 30).describe(
    'Seconds after which Perch closes a stream if the client does not read from the stream.',
  ),
});

/** Returns an error for each combination of settings that cannot work. */
export const areaFaults = (set: Record<string, string | undefined>) => [
  ...modelFaults(set),
  ...actorFaults(set),
];
