import { redactKeys } from './redact.ts';

/** Row of the catalogue of problems. */
export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** The next step for the caller. */
  readonly resolution: string;
  /** When the code is used, for the generated `docs/errors.md`. */
  readonly when: string;
  /** Seconds to wait where the code always has the same wait. */
  readonly retryAfterSeconds?: number;
}

/** Creates a row from its status, title, `resolution`, `when` and fixed wait in seconds. */
const kind = (
  status: number,
  title: string,
  [resolution, when, seconds]: readonly [resolution: string, when: string, seconds?: number],
): ProblemKind => ({
  status,
  title,
  resolution,
  when,
  ...(seconds !== undefined && { retryAfterSeconds: seconds }),
});

/** Part of the catalogue that only sessions have. */
export const sessionProblemKinds = {
  missing_message: kind(400, 'No message', [
    'Send the question as the member `message` of the JSON body, a string.',
    'a session was started or continued without `message`, or with a blank one',
  ]),
  invalid_message: kind(400, 'Message is not text', [
    'Send `message` as a string, or as an array of `{ "type": "text", "text": … }`.',
    'the `message` of a session is neither a string nor a list of text parts',
  ]),
  invalid_start_index: kind(400, 'Start index is not an integer', [
    'Send `startIndex` as an integer: the index of an event from 0, or a negative number to count from the end.',
    'the `startIndex` of a stream is not an integer',
  ]),
  missing_continuation_token: kind(400, 'No continuation token', [
    'Send the `continuationToken` of the start response in the header `X-Continuation-Token`.',
    'a session was continued or reset without its continuation token',
  ]),
  conflicting_continuation_tokens: kind(400, 'Two continuation tokens', [
    'Send the token in the header `X-Continuation-Token` or in the body, not both.',
    'the header and the body name different continuation tokens',
  ]),
  missing_bearer: kind(401, 'No bearer token', [
    'Send any bearer token: `Authorization: Bearer …`.',
    'a session route was called without a bearer token, and the operator demands one',
  ]),
  invalid_continuation_token: kind(403, 'Not the token of this session', [
    'Use the `continuationToken` of the start response of this session, unchanged.',
    'the continuation token is not the one of the session',
  ]),
  session_forbidden: kind(403, 'Session of somebody else', [
    'Use the bearer token that the session was started with.',
    'the bearer token is not the one that the session was started with, and the operator binds sessions to it',
  ]),
  session_not_found: kind(404, 'No such session', [
    'Start a session, and use the `sessionId` of its start response.',
    'the session id was never issued, or is forgotten',
  ]),
  session_not_active: kind(409, 'Session has ended', [
    'Start a new session; the events of this one can still be read for a while.',
    'a message was sent to a session that has ended or failed',
  ]),
  turn_in_progress: kind(409, 'A turn is in progress', [
    'Wait for `session.waiting` on the stream, or leave `turnPolicy` out to queue.',
    'a message was sent with `turnPolicy` `reject` while a turn is queued or running',
  ]),
  session_expired: kind(410, 'Session is gone', [
    'Start a new session; the events of this one are deleted.',
    'the session has ended so long ago that it was deleted',
  ]),
  unsupported_feature: kind(422, 'Feature not supported', [
    'Leave out the member that the detail names.',
    'a message asks for structured results or answers a request for input',
  ]),
  idempotency_conflict: kind(422, 'Idempotency key used before', [
    'Send a new `Idempotency-Key` with another request.',
    'the same `Idempotency-Key` came with another request in the last 24 hours',
  ]),
  turn_queue_full: kind(429, 'Too many messages wait', [
    'Wait the number of seconds in `Retry-After`, then send the message again.',
    'as many messages of the session, or of the address, wait for an answer as may wait',
    1,
  ]),
  not_ready: kind(503, 'Sessions not ready', [
    'Retry after the number of seconds in `Retry-After`.',
    'the session service cannot answer yet, because its index is being built or its store cannot be used',
    2,
  ]),
};

/** Every `code` that the server can answer with. A published code is never reused or given another status. */
export const problemKinds = {
  missing_url: kind(400, 'No post URL', [
    'Send the URL of a post as the `url` parameter. To read a post, `handle` together with `id` will do as well.',
    'a post was asked for without `url` and without `handle` and `id`',
  ]),
  invalid_url: kind(400, 'Not a usable URL', [
    'Send an absolute https URL of a post without user name, password or port; within a URL, percent-encode it.',
    'the `url` parameter cannot be parsed, or has user information, a port or another scheme',
  ]),
  unsupported_host: kind(400, 'Not a site that Perch reads', [
    'Send the URL of a post on a site that this server reads, such as `https://x.com/jack/status/20`, or one of its own permalinks.',
    'the `url` parameter names a site that Perch does not read',
  ]),
  invalid_path: kind(400, 'Not the URL of a post', [
    'Send the URL of one post, for example `https://x.com/jack/status/20`.',
    'the `url` parameter is on a site that Perch reads but is not a post',
  ]),
  invalid_params: kind(400, 'Handle or id missing or malformed', [
    'Send both `handle` and `id` of the post, or its URL as the `url` parameter.',
    'the pair of `handle` and `id` is incomplete, or one of them is malformed',
  ]),
  invalid_handle: kind(400, 'Not a handle', [
    'Send a handle such as `jack`, `alice.example.com`, `user@host` or `ada.example`; a leading `@` is accepted.',
    'the handle has the form of no platform',
  ]),
  missing_query: kind(400, 'No search text', [
    'Send the search text as the `q` parameter; in a URL, percent-encode it.',
    'a search was asked for without `q`, or with one that is empty',
  ]),
  invalid_query: kind(400, 'Search text not usable', [
    'Send 1 to 512 characters as `q`, and simplify its operators.',
    'the `q` parameter is too long, or the platform refuses it as it is',
  ]),
  invalid_feed: kind(400, 'Unknown feed', [
    'Send `latest`, `top`, `photos`, `videos`, `users` or `media`, or leave `feed` out.',
    'the `feed` parameter is not one of its values',
  ]),
  invalid_resource: kind(400, 'Unknown resource', [
    'Send `profile`, `followers`, `following` or `search` as `resource`; better, use the routes under `/api/v1`.',
    'the `resource` parameter of `/api/browse` is missing or not one of its values',
  ]),
  invalid_cursor: kind(400, 'Cursor not usable here', [
    'Send `nextCursor` of the page before, unchanged, to the same route with the same parameters; or leave `cursor` out to begin again.',
    'the `cursor` parameter was changed, or belongs to another list, query or option',
  ]),
  invalid_format: kind(400, 'Unknown format', [
    'Send one of the formats that the detail lists, or leave `format` out.',
    'the `format` parameter is not one of its values',
  ]),
  invalid_thread: kind(400, 'Unknown thread mode', [
    'Send `off`, `full`, `conversation` or a count from 2 to 100, or leave it out.',
    'the `thread` parameter is not one of its values',
  ]),
  invalid_context: kind(400, 'Unknown context', [
    'Send `full` or `thread`, or leave `context` out.',
    'the `context` parameter is not one of its values',
  ]),
  invalid_replies: kind(400, 'Unknown choice of replies', [
    'Send one of the words that the detail lists, or leave `replies` out.',
    'the `replies` parameter is not one of its values',
  ]),
  invalid_userinfo: kind(400, 'Unknown choice of user information', [
    'Send `off`, `author` or `all`, or leave `userinfo` out.',
    'the `userinfo` parameter is not one of its values',
  ]),
  invalid_option: kind(400, 'Option not usable', [
    'Correct, add or remove what the detail names.',
    'any other parameter has a value outside its table, or a parameter is given twice',
  ]),
  unsupported_platform: kind(400, 'No provider for this platform', [
    'Ask for a platform that this server is configured for; `/health/ready` lists its providers and what they read.',
    'no configured provider reads the platform of the URL or handle, or searches the one that is named',
  ]),
  malformed_request: kind(400, 'Malformed request', [
    'Send a well-formed HTTP/1.1 request with a `Host` header and valid percent-encoding.',
    'the request is not valid HTTP, has no `Host`, or its path has a broken percent-encoding',
  ]),
  invalid_body: kind(400, 'Malformed body', [
    'Send a JSON object in UTF-8, with its length.',
    'a route that reads a body received one that is not JSON',
  ]),
  invalid_key: kind(401, 'Key unknown or disabled', [
    'Drop the `Authorization` header and call anonymously, or ask for a replacement. Never retry the same key in a loop.',
    'a bearer key was presented on the browse surface or at `/mcp` that is unknown or disabled',
  ]),
  unauthorized: kind(401, 'Private route', [
    'Use the public routes, which `/openapi.json` lists; this one is the operator’s.',
    'a private admin route was reached without the admin token',
  ]),
  origin_not_allowed: kind(403, 'Origin or host not allowed', [
    'Call from a program, or from a page of this server under the address in `PERCH_BASE_URL`. The operator can list other origins in `PERCH_MCP_ORIGINS` and `PERCH_SESSION_ORIGINS`; reads under `/api/v1` are open to pages of any origin.',
    'a page of a web origin that is not allowed called `/mcp`, a session, a page or an admin route, or a server that listens on loopback was called under a foreign host name',
  ]),
  not_found: kind(404, 'Not found', [
    'Check the handle or the id. What is deleted, suspended or protected cannot be read; do not retry in a loop.',
    'the post or account is confirmed missing, deleted, suspended or protected',
  ]),
  route_not_found: kind(404, 'No such route', [
    'Discover the routes at `/api`, `/openapi.json` or `/.well-known/api-catalog`; posts are at `/api/v1/posts`.',
    'no route has this path',
  ]),
  method_not_allowed: kind(405, 'Method not allowed', [
    'Use a method that the `Allow` header lists.',
    'the route exists, but not for this method; `Allow` lists those it has',
  ]),
  request_timeout: kind(408, 'Request not received in time', [
    'Send the whole request without long pauses, on a new connection.',
    'the headers or the body of a request took too long to arrive',
  ]),
  payload_too_large: kind(413, 'Body too large', [
    'Send a smaller body.',
    'the body of a request is over the limit',
  ]),
  uri_too_long: kind(414, 'URL too long', [
    'Shorten the URL to at most 8192 bytes.',
    'the request URL is over 8192 bytes',
  ]),
  unsupported_media_type: kind(415, 'Unsupported media type', [
    'Send the body as JSON, with the header `Content-Type: application/json`.',
    'a route that reads a body received one of another media type, or of none',
  ]),
  headers_too_large: kind(431, 'Headers too large', [
    'Send fewer or shorter headers; all of them together may have 16 KiB.',
    'the request headers are over 16 KiB',
  ]),
  rate_limited: kind(429, 'Allowance exhausted', [
    'Read `Retry-After` and wait exactly that many seconds. What the response cache answers costs nothing; a key has a larger allowance, and the operator can enlarge it.',
    'the allowance of this window is exhausted, or the part of the pool that such callers share; `Retry-After` is exact',
  ]),
  internal_error: kind(500, 'Defect in the server', [
    'Report the `X-Request-Id` of this response to the operator; a retry may not help.',
    'a defect of Perch; it is logged with the request id',
  ]),
  not_implemented: kind(501, 'Not implemented', [
    'Send `format=json`, or leave `format` out.',
    'an oEmbed document was asked for in another format than JSON',
  ]),
  upstream_error: kind(502, 'Unusable answer from upstream', [
    'Retry in a few minutes; if it persists, the upstream has changed its format.',
    'the provider answered something unusable',
  ]),
  upstream_unavailable: kind(503, 'Upstream unavailable', [
    'Retry after the number of seconds in `Retry-After`.',
    'every provider that could answer is down, or none could say for certain',
    30,
  ]),
  upstream_rate_limited: kind(503, 'Upstream throttles this server', [
    'Retry after the number of seconds in `Retry-After`.',
    'the provider throttles us; `Retry-After` is the provider’s, else 30',
    30,
  ]),
  overloaded: kind(503, 'Server overloaded', [
    'Retry after the number of seconds in `Retry-After`.',
    'this process sheds load',
    1,
  ]),
  key_store_unavailable: kind(503, 'Key store unavailable', [
    'Retry after the number of seconds in `Retry-After`; if it persists, look at `perch.db` in the data directory. Reads go on without it.',
    'an admin route cannot read or change the keys, because their store is missing, damaged or locked',
    1,
  ]),
  shutting_down: kind(503, 'Server shutting down', [
    'Retry after the number of seconds in `Retry-After`, on a new connection.',
    'this process is draining before it stops',
    1,
  ]),
  ...sessionProblemKinds,
};

export type ProblemCode = keyof typeof problemKinds;

interface ProblemOptions {
  /** Names the parameter, the value's fault and the accepted form. Shown to the caller. */
  readonly detail: string;
  /** The next step for the caller. Default: the code's own. */
  readonly resolution?: string;
  /** Default: the code's own. */
  readonly retryAfterSeconds?: number;
  /** Methods for the `Allow` header of `method_not_allowed`. */
  readonly allow?: readonly string[];
  readonly cause?: unknown;
}

/** The caller's view of a failure. Everything else that is thrown is `internal_error`. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly status: number;
  readonly resolution: string;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: readonly string[] | undefined;

  constructor(code: ProblemCode, { detail, cause, ...options }: ProblemOptions) {
    super(detail, { cause });
    const kind: ProblemKind = problemKinds[code];
    this.code = code;
    this.status = kind.status;
    this.resolution = options.resolution ?? kind.resolution;
    this.retryAfterSeconds = options.retryAfterSeconds ?? kind.retryAfterSeconds;
    this.allow = options.allow;
  }
}

/** The media type of every problem document (RFC 9457 §3). */
export const problemMediaType = 'application/problem+json; charset=utf-8';

/**
 * Returns the document of a problem (RFC 9457 §3.1) with the members `code`, `resolution` and `retry_after`.
 *
 * @param where `instance` is the path and query of the request without secrets; it is absent if there is no request.
 */
export function toProblemDocument(
  { code, status, message: detail, resolution, retryAfterSeconds }: Problem,
  where: { readonly baseUrl: string; readonly instance?: string | undefined },
) {
  return {
    type: toProblemType(code, where.baseUrl),
    title: problemKinds[code].title,
    status,
    detail,
    ...(where.instance !== undefined && { instance: where.instance }),
    code,
    resolution,
    ...(retryAfterSeconds !== undefined && { retry_after: retryAfterSeconds }),
  };
}

export type ProblemDocument = Readonly<ReturnType<typeof toProblemDocument>>;

/** Returns the `type` of a problem: the address of its documentation. */
export const toProblemType = (code: ProblemCode, baseUrl: string): string =>
  `${baseUrl}/docs/errors#${code}`;

/** Quotes at most 80 characters of input, with control characters made visible and without bearer keys. */
export function quoteInput(value: string): string {
  const told = redactKeys(value);
  const shown = [...told].slice(0, 80).join('');
  const cut = shown.length < told.length ? '…' : '';
  return `${JSON.stringify(shown).replaceAll('\u007f', '\\u007f')}${cut}`;
}
