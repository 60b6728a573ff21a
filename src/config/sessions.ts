import { z } from 'zod';
import { isReservedName } from '../reads/addresses/match-path.ts';
import { flag, integer, oneOf, optionalInteger, origins } from './schemas.ts';

/** Default path segment, which session clients expect. */
const defaultSegment = 'svc';

/** Environment variables of the session service, including all its limits. */
export const sessionVariables = z.object({
  PERCH_SESSIONS: flag(true).describe('Whether to serve the session service: `on` or `off`.'),
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
    .describe('First path segment of the session service: `/svc/v1/…` by default.'),
  PERCH_SESSION_STORE: oneOf('file', 'memory').describe(
    'Session storage: `sessions.db` in the data directory (`file`), or memory only, so that a restart deletes all sessions (`memory`).',
  ),
  PERCH_SESSION_REQUIRE_BEARER: flag(false).describe(
    'Whether session routes other than health require a bearer token. Any token is accepted.',
  ),
  PERCH_SESSION_BIND_BEARER: flag(false).describe(
    'Whether a session accepts only the bearer token that started it.',
  ),
  PERCH_SESSION_TOKEN: oneOf('required', 'optional').describe(
    'Whether follow-up messages must include the continuation token.',
  ),
  PERCH_SESSION_STREAM_TOKEN: oneOf('proven', 'always').describe(
    'Stream readers that receive the continuation token in events: only readers that have sent it (`proven`), or all (`always`).',
  ),
  PERCH_SESSION_ORIGINS: origins.describe(
    'Web origins whose pages may use the session service, separated by commas; `*` allows any.',
  ),
  PERCH_SESSION_MESSAGE_BYTES: integer(1, 10_000_000, 65_536).describe(
    'Maximum size of a message in bytes.',
  ),
  PERCH_SESSION_BODY_BYTES: integer(1024, 100_000_000, 524_288).describe(
    'Maximum size of the body of a session request in bytes.',
  ),
  PERCH_SESSION_TURN_SECONDS: integer(1, 3600, 120).describe('Timeout in seconds for one turn.'),
  PERCH_SESSION_TURNS_AT_ONCE: optionalInteger(1, 1024).describe(
    'Maximum number of turns that run at the same time. Default: the number of CPU cores.',
  ),
  PERCH_SESSION_QUEUE: integer(0, 1000, 8).describe(
    'Maximum number of messages of one session that wait behind its running turn.',
  ),
  PERCH_SESSION_TURNS: integer(1, 100_000, 500).describe(
    'Number of turns after which a session ends.',
  ),
  PERCH_SESSION_BYTES_PER_SESSION: integer(65_536, 10_000_000_000, 33_554_432).describe(
    'Maximum size of a stored session in bytes. A session that reaches it ends after the running turn.',
  ),
  PERCH_SESSION_TURNS_PER_ADDRESS: integer(1, 1_000_000, 64).describe(
    'Maximum number of waiting and running turns of one client address, including questions on `/docs/ask`.',
  ),
  PERCH_SESSION_WAITING_TURNS: integer(1, 1_000_000, 4096).describe(
    'Maximum number of waiting and running turns of all client addresses, including questions on `/docs/ask`.',
  ),
  PERCH_SESSION_TURNS_PER_MINUTE: optionalInteger(1, 1_000_000).describe(
    'Messages that one client address may send in a minute: first messages, follow-ups and questions on `/docs/ask`. A third of them may arrive at once. Default: 1200, or 60 with a language model.',
  ),
  PERCH_SESSION_LIVE: integer(1, 1_000_000, 10_000).describe(
    'Maximum number of sessions that have not ended. Beyond it, Perch ends the least recently used session of the client with the most sessions.',
  ),
  PERCH_SESSION_LIVE_PER_ADDRESS: integer(1, 1_000_000, 1000).describe(
    'Maximum number of sessions of one client address that have not ended. Beyond it, Perch ends the least recently used one. One address can use at most half of `PERCH_SESSION_LIVE`; the same holds for turns, bytes and streams.',
  ),
  PERCH_SESSION_BYTES: optionalInteger(1_048_576, 1_000_000_000_000).describe(
    'Maximum number of bytes that all sessions use, including ended ones. Beyond it, Perch deletes sessions of the client that uses the most bytes, ended ones first. Default: 1 GiB in a file, 128 MiB in memory.',
  ),
  PERCH_SESSION_BYTES_PER_ADDRESS: integer(1_048_576, 1_000_000_000_000, 67_108_864).describe(
    'Maximum number of bytes that the sessions of one client address use, including ended ones. Beyond it, Perch deletes sessions of that address, ended ones first.',
  ),
  PERCH_SESSION_STARTS_PER_MINUTE: integer(1, 1_000_000, 600).describe(
    'Sessions that one client address may start in a minute, regardless of bearer tokens. One bearer token may start four times as many.',
  ),
  PERCH_SESSION_START_BURST: integer(1, 1_000_000, 200).describe(
    'Number of session starts, out of those allowed in a minute, that may arrive at once.',
  ),
  PERCH_SESSION_STREAMS_PER_SESSION: integer(1, 100_000, 64).describe(
    'Maximum number of open streams of one session.',
  ),
  PERCH_SESSION_STREAMS_PER_ADDRESS: integer(1, 1_000_000, 256).describe(
    'Maximum number of open streams of one client address.',
  ),
  PERCH_SESSION_STREAMS: integer(1, 1_000_000, 4096).describe(
    'Maximum number of open streams in total.',
  ),
  PERCH_SESSION_IDLE_SECONDS: integer(1, 31_536_000, 86_400).describe(
    'Seconds without a message or a running turn after which a session ends.',
  ),
  PERCH_SESSION_AGE_SECONDS: integer(1, 315_360_000, 2_592_000).describe(
    'Maximum age of a session in seconds. An older session ends.',
  ),
  PERCH_SESSION_RETENTION_SECONDS: integer(0, 31_536_000, 86_400).describe(
    'Seconds for which an ended session can still be read. Then it is deleted.',
  ),
  PERCH_SESSION_FORGET_SECONDS: integer(0, 315_360_000, 2_592_000).describe(
    'Seconds for which requests for a deleted session get status 410. Later ones get 404.',
  ),
  // Streams are checked once a second, so a silence can last one second longer.
  PERCH_SESSION_HEARTBEAT_SECONDS: integer(1, 13, 10).describe(
    'Seconds without output after which a stream sends a space to keep the connection alive. Clients give up after 15 seconds.',
  ),
  PERCH_SESSION_LEASE_SECONDS: integer(1, 3600, 60).describe(
    'Seconds for which a leased stream (`streamControlVersion=1`) stays open.',
  ),
  PERCH_SESSION_FOLLOW_SECONDS: integer(1, 86_400, 900).describe(
    'Seconds for which a stream with `follow=true` stays open.',
  ),
  PERCH_SESSION_STALL_SECONDS: integer(1, 3600, 30).describe(
    'Seconds without progress after which Perch closes a stream whose client does not read.',
  ),
});
