import { z } from 'zod';
import { isReservedName } from '../reads/addresses/permalink-handle.ts';
import { flag, integer, oneOf, optionalInteger, origins } from './schemas.ts';

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
    'Maximum number of messages that one client address may send in a minute, including first messages, follow-up messages and questions on `/docs/ask`. A third of this number may arrive at once. Default: 1200, or 60 with a language model.',
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
