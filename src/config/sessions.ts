import { z } from 'zod';
import { isReservedName } from '../reads/addresses/match-path.ts';
import { flag, maybeWhole, origins, whole, word } from './forms.ts';

/** The segment that clients look for. */
const usualSegment = 'svc';

/** The environment variables of the session service: each limit is one. */
export const sessionVariables = z.object({
  PERCH_SESSIONS: flag(true).describe('Whether the session service is served: `on` or `off`.'),
  PERCH_SESSION_PREFIX: z
    .string()
    .regex(
      /^[a-z][a-z0-9-]{0,31}$/,
      'must be a path segment of lower-case letters, digits and hyphens, 32 at most',
    )
    .refine(
      (segment) => segment === usualSegment || !isReservedName(segment),
      'must not be a path that Perch uses already',
    )
    .default(usualSegment)
    .describe('The first segment of the paths of the session service.'),
  PERCH_SESSION_STORE: word('file', 'memory').describe(
    'Where sessions are kept: in `sessions.db` in the data directory, or in memory until the next start.',
  ),
  PERCH_SESSION_REQUIRE_BEARER: flag(false).describe(
    'Whether session routes but health demand a bearer token, whichever.',
  ),
  PERCH_SESSION_BIND_BEARER: flag(false).describe(
    'Whether a session can be used with the bearer token of its start alone.',
  ),
  PERCH_SESSION_TOKEN: word('required', 'optional').describe(
    'Whether a follow-up needs the continuation token.',
  ),
  PERCH_SESSION_STREAM_TOKEN: word('proven', 'always').describe(
    'Which readers of a stream get the continuation token in its events: those who have shown it, or all.',
  ),
  PERCH_SESSION_ORIGINS: origins.describe(
    'The web origins whose pages may use sessions, separated by commas; `*` for any.',
  ),
  PERCH_SESSION_MESSAGE_BYTES: whole(1, 10_000_000, 65_536).describe(
    'The most bytes of a message.',
  ),
  PERCH_SESSION_BODY_BYTES: whole(1024, 100_000_000, 524_288).describe(
    'The most bytes of the body of a session request.',
  ),
  PERCH_SESSION_TURN_SECONDS: whole(1, 3600, 120).describe('The longest time of a turn.'),
  PERCH_SESSION_TURNS_AT_ONCE: maybeWhole(1, 1024).describe(
    'The most turns at work at once. Default: the number of CPU cores.',
  ),
  PERCH_SESSION_QUEUE: whole(0, 1000, 8).describe(
    'The most messages of a session that wait behind its running turn.',
  ),
  PERCH_SESSION_TURNS: whole(1, 100_000, 500).describe('The turns after which a session ends.'),
  PERCH_SESSION_BYTES_PER_SESSION: whole(65_536, 10_000_000_000, 33_554_432).describe(
    'Stored bytes after which a session ends, with the turn that reached them.',
  ),
  PERCH_SESSION_TURNS_PER_ADDRESS: whole(1, 1_000_000, 64).describe(
    'Maximum number of turns of one address that wait or are at work, questions on `/docs/ask` included.',
  ),
  PERCH_SESSION_WAITING_TURNS: whole(1, 1_000_000, 4096).describe(
    'Maximum number of turns of all addresses that wait or are at work, questions on `/docs/ask` included.',
  ),
  PERCH_SESSION_TURNS_PER_MINUTE: maybeWhole(1, 1_000_000).describe(
    'Messages that one address may send in a minute, a third of them at once: starts, further messages and questions on `/docs/ask`. Default: 1200, or 60 with a language model.',
  ),
  PERCH_SESSION_LIVE: whole(1, 1_000_000, 10_000).describe(
    'Maximum number of sessions that have not ended. Beyond it the longest unused session of the client with the most sessions is ended.',
  ),
  PERCH_SESSION_LIVE_PER_ADDRESS: whole(1, 1_000_000, 1000).describe(
    'Maximum number of sessions of one address that have not ended. Beyond it the longest unused one of them is ended. One address never has more than half of `PERCH_SESSION_LIVE`; the same goes for turns, bytes and streams.',
  ),
  PERCH_SESSION_BYTES: maybeWhole(1_048_576, 1_000_000_000_000).describe(
    'Maximum number of bytes that all sessions take, ended ones included. Beyond it sessions of the client with the most bytes are deleted, ended ones first. Default: 1 GiB in a file, 128 MiB in memory.',
  ),
  PERCH_SESSION_BYTES_PER_ADDRESS: whole(1_048_576, 1_000_000_000_000, 67_108_864).describe(
    'Maximum number of bytes that the sessions of one address take, ended ones included. Beyond it they are deleted, ended ones first.',
  ),
  PERCH_SESSION_STARTS_PER_MINUTE: whole(1, 1_000_000, 600).describe(
    'Sessions that one address may start in a minute, whatever its bearers. One bearer may start four times as many.',
  ),
  PERCH_SESSION_START_BURST: whole(1, 1_000_000, 200).describe(
    'How many of the starts of a minute may come at once.',
  ),
  PERCH_SESSION_STREAMS_PER_SESSION: whole(1, 100_000, 64).describe(
    'The most streams of one session.',
  ),
  PERCH_SESSION_STREAMS_PER_ADDRESS: whole(1, 1_000_000, 256).describe(
    'Maximum number of streams that one address reads at once.',
  ),
  PERCH_SESSION_STREAMS: whole(1, 1_000_000, 4096).describe('The most streams in all.'),
  PERCH_SESSION_IDLE_SECONDS: whole(1, 31_536_000, 86_400).describe(
    'Seconds without a message and a turn after which a session ends.',
  ),
  PERCH_SESSION_AGE_SECONDS: whole(1, 315_360_000, 2_592_000).describe(
    'Seconds after its start at which a session ends.',
  ),
  PERCH_SESSION_RETENTION_SECONDS: whole(0, 31_536_000, 86_400).describe(
    'Seconds that a session can be read after its end; then it is deleted.',
  ),
  PERCH_SESSION_FORGET_SECONDS: whole(0, 315_360_000, 2_592_000).describe(
    'Seconds that a deleted session is answered with 410; then with 404.',
  ),
  // Silence is looked for once a second, so it can last one longer.
  PERCH_SESSION_HEARTBEAT_SECONDS: whole(1, 13, 10).describe(
    'Seconds of silence on a stream after which a space is sent; clients give up after 15.',
  ),
  PERCH_SESSION_LEASE_SECONDS: whole(1, 3600, 60).describe(
    'Seconds that a leased stream stays open (`streamControlVersion=1`).',
  ),
  PERCH_SESSION_FOLLOW_SECONDS: whole(1, 86_400, 900).describe(
    'Seconds that a stream stays open with `follow=true`.',
  ),
  PERCH_SESSION_STALL_SECONDS: whole(1, 3600, 30).describe(
    'Seconds without progress after which a stream is cut.',
  ),
});
