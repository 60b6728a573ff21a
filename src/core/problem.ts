import { redactKeys } from './redact.ts';

export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  readonly resolution: string;
  /** Condition under which the error occurs, for the generated `docs/errors.md`. */
  readonly when: string;
  /** Default value of the header `Retry-After` in seconds. */
  readonly retryAfterSeconds?: number;
}

/** Creates an entry of `problemKinds`, the table of errors for callers. `seconds` is the default `Retry-After`. */
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

export const sessionProblemKinds = {
  missing_message: kind(400, 'No message', [
    'Send the question as a string in the member `message` of the JSON body.',
    'a request that starts or continues a session has no `message`, or a blank one',
  ]),
  invalid_message: kind(400, 'Message is not text', [
    'Send `message` as a string, or as an array of objects `{ "type": "text", "text": … }`.',
    'the `message` of a session is neither a string nor a list of text parts',
  ]),
  invalid_start_index: kind(400, 'Start index is not an integer', [
    'Send `startIndex` as an integer: the zero-based index of an event, or a negative number to count from the end.',
    'the `startIndex` of a stream is not an integer',
  ]),
  missing_continuation_token: kind(400, 'No continuation token', [
    'Send the `continuationToken` of the start response in the header `X-Continuation-Token`.',
    'a request that continues or resets a session has no continuation token',
  ]),
  conflicting_continuation_tokens: kind(400, 'Conflicting continuation tokens', [
    'Send the token either in the header `X-Continuation-Token` or in the body.',
    'the header and the body contain different continuation tokens',
  ]),
  missing_bearer: kind(401, 'No bearer token', [
    'Send any bearer token in the header `Authorization: Bearer …`.',
    'a request to a session route has no bearer token, and the operator requires one',
  ]),
  invalid_continuation_token: kind(403, 'Wrong continuation token', [
    'Send the `continuationToken` from the start response of this session, unchanged.',
    'the continuation token belongs to another session, or was changed',
  ]),
  session_forbidden: kind(403, 'Session belongs to another caller', [
    'Use the bearer token that the session was started with.',
    'the operator binds sessions to bearer tokens, and the session was started with another token',
  ]),
  session_not_found: kind(404, 'No such session', [
    'Start a session, and use the `sessionId` of its start response.',
    'no session has this id: it was never issued, or the server no longer knows it',
  ]),
  session_not_active: kind(409, 'Session has ended', [
    'Start a new session. The events of this session can still be read until it is deleted.',
    'a message was sent to a session that has ended or failed',
  ]),
  turn_in_progress: kind(409, 'A turn is in progress', [
    'Wait for the event `session.waiting` on the stream, or omit `turnPolicy` to queue the message.',
    'a message was sent with `turnPolicy` `reject` while a turn is queued or running',
  ]),
  session_expired: kind(410, 'Session was deleted', [
    'Start a new session. The events of this session have been deleted.',
    'the session ended and was deleted after its retention time',
  ]),
  unsupported_feature: kind(422, 'Feature not supported', [
    'Remove the member that `detail` names.',
    'a message requests structured output, or replies to a request for input',
  ]),
  idempotency_conflict: kind(422, 'Idempotency key already used', [
    'Send a different request with a new `Idempotency-Key`.',
    'the same `Idempotency-Key` was used for a different request within 24 hours',
  ]),
  turn_queue_full: kind(429, 'Message queue full', [
    'Wait the number of seconds in `Retry-After`, then send the message again.',
    'the queue of messages of the session, or of the client address, is full',
    1,
  ]),
  not_ready: kind(503, 'Sessions not ready', [
    'Retry after the number of seconds in `Retry-After`.',
    'the session service is building its index, or cannot use its store',
    2,
  ]),
};

/** All errors that the server can report, by code. A published code never changes its meaning and status. */
export const problemKinds = {
  missing_url: kind(400, 'No post URL', [
    'Send the URL of a post in the parameter `url`. To read a post, you can send `handle` and `id` instead.',
    'a request for a post has neither `url` nor both `handle` and `id`',
  ]),
  invalid_url: kind(400, 'Invalid URL', [
    'Send an absolute https URL of a post without user name, password or port. Percent-encode it in a query string.',
    'the parameter `url` cannot be parsed, or contains a user name, a password, a port, or a scheme other than http and https',
  ]),
  unsupported_host: kind(400, 'Unsupported site', [
    'Send the URL of a post on a site that this server reads, such as `https://x.com/jack/status/20`, or one of its own permalinks.',
    'the parameter `url` points to a site that Perch does not read',
  ]),
  invalid_path: kind(400, 'Not the URL of a post', [
    'Send the URL of one post, for example `https://x.com/jack/status/20`.',
    'the parameter `url` points to a site that Perch reads, but not to a post',
  ]),
  invalid_params: kind(400, 'Handle or id missing or malformed', [
    'Send both `handle` and `id` of the post, or its URL in the parameter `url`.',
    'either `handle` or `id` is missing or malformed',
  ]),
  invalid_handle: kind(400, 'Not a handle', [
    'Send a handle such as `jack`, `alice.example.com`, `user@host` or `ada.example`; a leading `@` is accepted.',
    'the handle does not have the form of a handle on any platform',
  ]),
  missing_query: kind(400, 'No search text', [
    'Send the search text in the parameter `q`. Percent-encode it in a query string.',
    'a search request has no `q`, or an empty one',
  ]),
  invalid_query: kind(400, 'Invalid search text', [
    'Send 1 to 512 characters in `q`, with fewer or simpler search operators.',
    'the parameter `q` is too long, or the platform does not accept it',
  ]),
  invalid_feed: kind(400, 'Unknown feed', [
    'Send `latest`, `top`, `photos`, `videos`, `users` or `media`, or omit `feed`.',
    'the value of `feed` is not one of the allowed values',
  ]),
  invalid_resource: kind(400, 'Unknown resource', [
    'Send `profile`, `followers`, `following` or `search` as `resource`, or use the routes under `/api/v1` instead.',
    'the parameter `resource` of `/api/browse` is missing, or its value is not one of the allowed values',
  ]),
  invalid_cursor: kind(400, 'Invalid cursor', [
    'Send the `nextCursor` of the previous page, unchanged, to the same route with the same parameters. To start from the first page, omit `cursor`.',
    'the parameter `cursor` was changed, or comes from a request with another path or other parameters',
  ]),
  invalid_format: kind(400, 'Unknown format', [
    'Send one of the formats that `detail` lists, or omit `format`.',
    'the value of `format` is not one of the allowed values',
  ]),
  invalid_thread: kind(400, 'Unknown thread mode', [
    'Send `off`, `full`, `conversation` or a number from 2 to 100, or omit `thread`.',
    'the value of `thread` is not one of the allowed values',
  ]),
  invalid_context: kind(400, 'Unknown context', [
    'Send `full` or `thread`, or omit `context`.',
    'the value of `context` is not one of the allowed values',
  ]),
  invalid_replies: kind(400, 'Unknown value of replies', [
    'Send one of the values that `detail` lists, or omit `replies`.',
    'the value of `replies` is not one of the allowed values',
  ]),
  invalid_userinfo: kind(400, 'Unknown value of userinfo', [
    'Send `off`, `author` or `all`, or omit `userinfo`.',
    'the value of `userinfo` is not one of the allowed values',
  ]),
  invalid_option: kind(400, 'Invalid parameter', [
    'Correct, add or remove the parameter that `detail` names.',
    'a parameter such as `limit` or `since` has a value that is not allowed, or a parameter is given twice',
  ]),
  unsupported_platform: kind(400, 'No provider for this platform', [
    'Use a platform that this server supports. `/health/ready` lists the providers and the platforms they read.',
    'no configured provider reads the platform of the URL or handle, or searches the requested platform',
  ]),
  malformed_request: kind(400, 'Malformed request', [
    'Send a well-formed HTTP/1.1 request with a `Host` header and valid percent-encoding.',
    'the request is not valid HTTP, has no `Host`, or its path has an invalid percent-encoding',
  ]),
  invalid_body: kind(400, 'Malformed body', [
    'Send a JSON object in UTF-8 with the header `Content-Length`.',
    'the request body is not a JSON object in UTF-8',
  ]),
  invalid_key: kind(401, 'Key unknown or disabled', [
    'Remove the `Authorization` header to call anonymously, or ask the operator for a new key. Do not retry with the same key.',
    'a read of a profile, list or search, or a request to `/mcp`, has an unknown or disabled bearer key',
  ]),
  unauthorized: kind(401, 'Admin token required', [
    'Use the public routes, which `/openapi.json` lists. If you are the operator, send the value of `PERCH_ADMIN_TOKEN` as the bearer token.',
    'a request to an admin route has no admin token, or a wrong one',
  ]),
  origin_not_allowed: kind(403, 'Origin or host not allowed', [
    'Send the request from a program, or from a page of this server at the address in `PERCH_BASE_URL`. The operator can allow other origins in `PERCH_MCP_ORIGINS` and `PERCH_SESSION_ORIGINS`. Pages of any origin can use the reads under `/api/v1`.',
    'a web page of an origin that is not allowed sent a request to `/mcp`, a session, a page or an admin route; or a server that listens on a loopback address received a `Host` header with an unknown host name',
  ]),
  not_found: kind(404, 'Not found', [
    'Check the handle or the id. Deleted, suspended and protected posts and accounts cannot be read, so do not retry.',
    'the post or account does not exist, or is deleted, suspended or protected',
  ]),
  route_not_found: kind(404, 'No such route', [
    'Find the routes at `/api`, `/openapi.json` or `/.well-known/api-catalog`. Posts are at `/api/v1/posts`.',
    'no route has this path',
  ]),
  method_not_allowed: kind(405, 'Method not allowed', [
    'Use a method that the header `Allow` lists.',
    'the route does not support this method; the header `Allow` lists the methods it supports',
  ]),
  request_timeout: kind(408, 'Request not received in time', [
    'Open a new connection, and send the whole request without long pauses.',
    'the headers or the body of a request took too long to arrive',
  ]),
  payload_too_large: kind(413, 'Body too large', [
    'Send a smaller body.',
    'the request body exceeds the limit',
  ]),
  uri_too_long: kind(414, 'URL too long', [
    'Shorten the URL to at most 8192 bytes.',
    'the request URL exceeds 8192 bytes',
  ]),
  unsupported_media_type: kind(415, 'Unsupported media type', [
    'Send the body as JSON, with the header `Content-Type: application/json`.',
    'the media type of the request body is not JSON, or is missing',
  ]),
  headers_too_large: kind(431, 'Headers too large', [
    'Send fewer or shorter headers, at most 16 KiB in total.',
    'the request headers exceed 16 KiB',
  ]),
  rate_limited: kind(429, 'Rate limit exceeded', [
    'Wait the number of seconds in `Retry-After`, then retry. Responses from the cache cost nothing. For profiles, lists and searches, a key has a larger allowance.',
    'the caller has used up its allowance of reads or its limit of questions; or callers without a key, or all callers together, have used up the requests to the sources that they share',
  ]),
  internal_error: kind(500, 'Internal error', [
    'Report the `X-Request-Id` of this response to the operator. A retry may not help.',
    'Perch has a defect; the log contains the error with the request id',
  ]),
  not_implemented: kind(501, 'Not implemented', [
    'Send `format=json`, or omit `format`.',
    'an oEmbed document was requested in a format other than JSON',
  ]),
  upstream_error: kind(502, 'Invalid response from upstream', [
    'Retry in a few minutes. If the problem persists, the upstream has probably changed its format: report it to the operator.',
    'the upstream sent a response that Perch cannot use',
  ]),
  upstream_unavailable: kind(503, 'Upstream unavailable', [
    'Retry after the number of seconds in `Retry-After`.',
    'all providers are unavailable, or none could confirm whether the post or account exists',
    30,
  ]),
  upstream_rate_limited: kind(503, 'Upstream throttles this server', [
    'Retry after the number of seconds in `Retry-After`.',
    'the upstream limits the rate of this server’s requests; `Retry-After` comes from the upstream, or is 30',
    30,
  ]),
  overloaded: kind(503, 'Server overloaded', [
    'Retry after the number of seconds in `Retry-After`.',
    'the server has too much work to accept this request',
    1,
  ]),
  key_store_unavailable: kind(503, 'Key store unavailable', [
    'Retry after the number of seconds in `Retry-After`. If the problem persists, check the file `perch.db` in the data directory. Reads still work without it.',
    'an admin route cannot read or change the keys, because the key store is missing, damaged or locked',
    1,
  ]),
  shutting_down: kind(503, 'Server shutting down', [
    'Retry after the number of seconds in `Retry-After`, on a new connection.',
    'the server is finishing its current requests before it stops',
    1,
  ]),
  ...sessionProblemKinds,
};

export type ProblemCode = keyof typeof problemKinds;

interface ProblemOptions {
  /** Sentence for the caller that names the invalid parameter, the error and the accepted values. */
  readonly detail: string;
  /** Next step for the caller. Default: `resolution` in `problemKinds`. */
  readonly resolution?: string;
  /** Value of the header `Retry-After` in seconds. Default: `retryAfterSeconds` in `problemKinds`. */
  readonly retryAfterSeconds?: number;
  /** HTTP methods for the header `Allow`. Used only with the code `method_not_allowed`. */
  readonly allow?: readonly string[];
  readonly cause?: unknown;
}

/** Error that is reported to the caller. Any other error is reported as `internal_error`. */
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

/** Media type of problem documents (RFC 9457 §3). */
export const problemMediaType = 'application/problem+json; charset=utf-8';

/**
 * Returns the problem document (RFC 9457 §3.1), with the additional members `code`, `resolution` and `retry_after`.
 * @param where `instance` is the path and query of the request without secrets, absent if there is no request.
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

/** Returns the `type` of a problem: the URL of its documentation. */
export const toProblemType = (code: ProblemCode, baseUrl: string): string =>
  `${baseUrl}/docs/errors#${code}`;

/** Quotes at most 80 characters of input. Removes API keys and escapes control characters. */
export function quoteInput(value: string): string {
  const redacted = redactKeys(value);
  const shown = [...redacted].slice(0, 80).join('');
  const cut = shown.length < redacted.length ? '…' : '';
  return `${JSON.stringify(shown).replaceAll('\u007f', '\\u007f')}${cut}`;
}
