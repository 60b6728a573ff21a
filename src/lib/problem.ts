import { redactKeys } from './redact.ts';

export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  readonly resolution: string;
  /** Condition under which the error occurs, for the generated page `docs/errors.md`. */
  readonly when: string;
  /** Default value of the header `Retry-After` in seconds. */
  readonly retryAfterSeconds?: number;
}

/** Creates an entry of `problemKinds`. `seconds`: default of the header `Retry-After`. */
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
    'a request that starts or continues a session has no `message`, or `message` is blank',
  ]),
  invalid_message: kind(400, 'Message is not text', [
    'Send `message` as a string, or as an array of objects `{ "type": "text", "text": … }`.',
    'the `message` of a session request is neither a string nor an array of text parts',
  ]),
  invalid_start_index: kind(400, 'Start index is not an integer', [
    'Send `startIndex` as an integer: the zero-based index of an event, or a negative number to count from the end.',
    'the parameter `startIndex` of a request for the events of a session is not an integer',
  ]),
  missing_continuation_token: kind(400, 'No continuation token', [
    'Send the `continuationToken` from the response that started the session. Use the header `X-Continuation-Token`.',
    'a request that continues or resets a session has no continuation token',
  ]),
  conflicting_continuation_tokens: kind(400, 'Conflicting continuation tokens', [
    'Send the token only in the header `X-Continuation-Token`, or only in the body.',
    'the header `X-Continuation-Token` and the body contain different continuation tokens',
  ]),
  missing_bearer: kind(401, 'No bearer token', [
    'Choose a bearer token yourself, and send this token in the header `Authorization: Bearer …` with each request of the session.',
    'this server requires a bearer token for sessions, and the request has no bearer token',
  ]),
  invalid_continuation_token: kind(403, 'Wrong continuation token', [
    'Send the unchanged `continuationToken` from the response that started this session.',
    'the continuation token belongs to another session, or was changed',
  ]),
  session_forbidden: kind(403, 'Session belongs to another caller', [
    'Send the same bearer token as with the first message of the session. If you sent no token with that message, send none.',
    'the request and the first message of the session do not have the same bearer token, and this server requires the same token',
  ]),
  session_not_found: kind(404, 'No such session', [
    'Start a session, and use the `sessionId` from the response.',
    'the server never issued this session id, or no longer has a record of the deleted session',
  ]),
  session_not_active: kind(409, 'Session has ended', [
    'Start a new session. You can still read the events of this session until the server deletes the session.',
    'the client sent a message to a session that has ended or failed',
  ]),
  turn_in_progress: kind(409, 'A turn is in progress', [
    'Wait for the event `session.waiting` of the session, then send the message again. If you omit `turnPolicy`, Perch puts the message into a queue instead.',
    'the client sent a message with the `turnPolicy` `reject` while an earlier message of the session was waiting for its answer',
  ]),
  session_expired: kind(410, 'Session was deleted', [
    'Start a new session. The server no longer has the events of this session.',
    'the server has deleted the session after its end, and still has a record of the deletion',
  ]),
  unsupported_feature: kind(422, 'Feature not supported', [
    'Remove the member that `detail` names.',
    'a message contains `outputSchema` (structured output) or `inputResponses` (answers to a request for input)',
  ]),
  idempotency_conflict: kind(422, 'Idempotency key already used', [
    'Use a new `Idempotency-Key` for each different request. Use a key again only to retry the same request.',
    'the client used the same `Idempotency-Key` for a different request in the last 24 hours',
  ]),
  turn_queue_full: kind(429, 'Message queue full', [
    'Wait for the number of seconds in `Retry-After`, then send the message again.',
    'too many messages of the session, or of the client address, are waiting',
    1,
  ]),
  not_ready: kind(503, 'Sessions not ready', [
    'Retry after the number of seconds in `Retry-After`.',
    'the server is still indexing the documents that it uses to answer questions, or cannot use the stored sessions',
    2,
  ]),
};

/** All errors by code. A published code never changes its meaning or status. */
export const problemKinds = {
  missing_url: kind(400, 'No post URL', [
    'Send the URL of the post in the parameter `url`. The route for posts also accepts `handle` and `id` instead of `url`.',
    'a request for a post has none of the parameters `url`, `handle` and `id`, or `url` is empty',
  ]),
  invalid_url: kind(400, 'Invalid URL', [
    'Send the whole URL of a post, such as `https://x.com/jack/status/20`, without a user name and password. Only URLs of posts on this server may have a port. In a query string, percent-encode the URL.',
    'the parameter `url` is not a valid URL, contains a user name or a password, has a scheme other than http and https, or has a port although it does not point to this server',
  ]),
  unsupported_host: kind(400, 'Unsupported site', [
    'Send the URL of a post on a site that this server reads, such as `https://x.com/jack/status/20`, or the URL of a post on this server.',
    'the parameter `url` points to a site that Perch does not read',
  ]),
  invalid_path: kind(400, 'Not the URL of a post', [
    'Send the URL of one post, for example `https://x.com/jack/status/20`.',
    'the parameter `url` points to a site that Perch reads, but not to a post',
  ]),
  invalid_params: kind(400, 'Handle or id missing or malformed', [
    'Send both the `handle` and the `id` of the post, or the URL of the post in the parameter `url`.',
    'a request for a post has only one of the parameters `handle` and `id`, or one of these parameters is malformed',
  ]),
  invalid_handle: kind(400, 'Not a handle', [
    'Send a handle such as `jack`, `alice.example.com`, `user@host` or `ada.example`, with or without a leading `@`.',
    'a request for a profile or a list has a handle that does not have the form of a handle on any platform',
  ]),
  missing_query: kind(400, 'No search text', [
    'Send the search text in the parameter `q`. In a query string, percent-encode this text.',
    'a search request has no `q`, or `q` is empty',
  ]),
  invalid_query: kind(400, 'Invalid search text', [
    'Send 1 to 512 characters in `q`, with fewer or simpler search operators.',
    'the value of `q` is too long, or the platform does not accept this value',
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
    'Send the unchanged `nextCursor` of the previous page to the same route with the same parameters. To start from the first page, omit `cursor`.',
    'the value of `cursor` was changed, or comes from a request with another path or other parameters',
  ]),
  invalid_format: kind(400, 'Unknown format', [
    'Send one of the formats that `detail` lists, or omit `format`.',
    'the value of `format` is not one of the allowed values',
  ]),
  invalid_thread: kind(400, 'Unknown thread mode', [
    'Send `off`, `full`, `conversation`, `whole` or a number from 2 to 100, or omit `thread`.',
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
    'a parameter such as `limit` or `since` has an invalid value, occurs twice, or cannot be combined with another parameter; or a required parameter is missing',
  ]),
  unsupported_platform: kind(400, 'No provider for this platform', [
    'Use a platform that this server supports. `/health/ready` lists the platforms of each provider.',
    'no provider of this server reads the platform of the URL or handle, or no provider can search the requested platform',
  ]),
  malformed_request: kind(400, 'Malformed request', [
    'Send a well-formed HTTP/1.1 request with a `Host` header and valid percent-encoding.',
    'the request is not valid HTTP, does not have exactly one `Host` header, or has invalid percent-encoding in its path',
  ]),
  invalid_body: kind(400, 'Malformed body', [
    'Send a JSON object in UTF-8. If `detail` names a member, correct this member.',
    'the request body is not a JSON object in UTF-8, or a member is missing or has an invalid value',
  ]),
  invalid_key: kind(401, 'Key unknown or disabled', [
    'Remove the `Authorization` header to send requests without a key, or ask the operator for a new key. Do not retry with the same key.',
    'a read of a profile, list or search, or a request to `/mcp`, has an unknown or disabled API key',
  ]),
  unauthorized: kind(401, 'Admin token required', [
    'Use the public routes, which `/openapi.json` lists. If you are the operator, sign in at `/admin` in a browser, or send the value of `PERCH_ADMIN_TOKEN` as the bearer token to the admin API.',
    'a request to the admin API has no admin token, or a wrong admin token, or a request to the dashboard at `/admin` comes from a browser that is not signed in',
  ]),
  origin_not_allowed: kind(403, 'Origin or host not allowed', [
    'Send the request from a program, or from a page of this server at the address in `PERCH_BASE_URL`. If the host name is unknown, use a loopback address, or the host name in `PERCH_BASE_URL`. The operator can allow other origins in `PERCH_MCP_ORIGINS` and `PERCH_SESSION_ORIGINS`. Web pages of any origin can send requests to the routes for reading under `/api/v1`.',
    'the request comes from a web page whose origin is not allowed for a route such as `/mcp`, `/docs/ask`, a session route or an admin route; or the server listens on a loopback address, and the `Host` header contains an unknown host name',
  ]),
  invalid_picture_address: kind(403, 'Invalid picture address', [
    'Request the page, feed or oEmbed document that contains the picture again, and use the unchanged address of the picture from the response. This server fetches only pictures whose address it has signed.',
    'the path below `/media/` was changed, or was signed by another server or with an earlier signing key',
  ]),
  not_found: kind(404, 'Not found', [
    'Check the handle or the id. Do not retry, because Perch cannot read deleted, suspended or protected posts and accounts.',
    'the post, account or media file does not exist, or is deleted, suspended or protected',
  ]),
  picture_not_found: kind(404, 'Picture not found', [
    'Request the page, feed or oEmbed document that contains the picture again, because the author may have replaced the picture. If the picture is still missing, open the post on its platform.',
    'the host of the picture does not have the picture, or refuses to send the picture to this server',
  ]),
  route_not_found: kind(404, 'No such route', [
    '`/api`, `/openapi.json` and `/.well-known/api-catalog` list the routes. To read a post, use `/api/v1/posts`.',
    'the server has no route with the path of the request',
  ]),
  method_not_allowed: kind(405, 'Method not allowed', [
    'Use a method that the header `Allow` of the response lists.',
    'the route does not support the method of the request',
  ]),
  request_timeout: kind(408, 'Request not received in time', [
    'Open a new connection, and send the whole request without long pauses.',
    'the server did not receive the headers or the body of the request in time',
  ]),
  expired_picture_address: kind(410, 'Picture address expired', [
    'Request the page, feed or oEmbed document that contains the picture again, and use the new address in the response.',
    'the address of a picture below `/media/` has expired, 90 to 120 days after this server signed it',
  ]),
  payload_too_large: kind(413, 'Body too large', [
    'Send a smaller body.',
    'the request body, or the `message` in the body, is larger than the limit of the route',
  ]),
  uri_too_long: kind(414, 'URL too long', [
    'Shorten the URL to at most 8192 bytes.',
    'the request URL exceeds 8192 bytes',
  ]),
  unsupported_media_type: kind(415, 'Unsupported media type', [
    'Send the body as JSON without compression, with the header `Content-Type: application/json`.',
    'the media type of the request body is not JSON, or is missing, or the body is compressed',
  ]),
  range_not_satisfiable: kind(416, 'Range not satisfiable', [
    'Send a range that starts before the end of the file, or omit the header `Range`. The response header `Content-Range` contains the size of the file.',
    'the header `Range` of a request for a media file asks only for bytes after the end of the file',
  ]),
  headers_too_large: kind(431, 'Headers too large', [
    'Send fewer or shorter headers. The maximum is 16 KiB for all headers together.',
    'the request headers exceed 16 KiB',
  ]),
  rate_limited: kind(429, 'Rate limit exceeded', [
    'Wait for the number of seconds in `Retry-After`, then retry. Reads that Perch answers from its cache do not count. With a key, you can read more profiles, lists and searches.',
    'the caller has used up its allowance of reads or has asked too many questions, or the shared pool of upstream requests has no requests left for the caller',
  ]),
  internal_error: kind(500, 'Internal error', [
    'Send the value of the header `X-Request-Id` to the operator. The log of the server contains the error with this request id. A retry may fail again.',
    'an unexpected error occurs',
  ]),
  not_implemented: kind(501, 'Not implemented', [
    'Send `format=json`, or omit `format`.',
    'a request for an oEmbed document has a `format` other than `json`',
  ]),
  upstream_error: kind(502, 'Invalid response from upstream', [
    'Retry in a few minutes. If the error persists, report the error to the operator, because the upstream has probably changed the format of its responses.',
    'the upstream sent a response that Perch cannot use',
  ]),
  upstream_unavailable: kind(503, 'Upstream unavailable', [
    'Retry after the number of seconds in `Retry-After`.',
    'all providers for the read are unavailable, or no provider could confirm whether the post or account exists',
    30,
  ]),
  upstream_rate_limited: kind(503, 'Upstream throttles this server', [
    'Retry after the number of seconds in `Retry-After`. If the upstream does not send a waiting time, this number is 30.',
    'the upstream limits the rate of requests from this server',
    30,
  ]),
  overloaded: kind(503, 'Server overloaded', [
    'Retry after the number of seconds in `Retry-After`.',
    'the server is too busy, or a limit of the server is reached, such as the maximum number of open connections',
    1,
  ]),
  key_store_unavailable: kind(503, 'Key store unavailable', [
    'Retry after the number of seconds in `Retry-After`. If the error persists, check the file `perch.db` in the data directory, or the Valkey or Redis server. Reads still work during this error.',
    'an admin route cannot read or change the keys, because the database of keys is missing, damaged or locked, or because the Valkey or Redis server that several instances share does not respond',
    1,
  ]),
  shutting_down: kind(503, 'Server shutting down', [
    'Retry after the number of seconds in `Retry-After`, on a new connection.',
    'the server is about to stop, and completes only the requests that it has already accepted',
    1,
  ]),
  ...sessionProblemKinds,
};

export type ProblemCode = keyof typeof problemKinds;

const faultyParams: Partial<Readonly<Record<ProblemCode, string>>> = {
  missing_url: 'url',
  invalid_url: 'url',
  unsupported_host: 'url',
  invalid_path: 'url',
  invalid_handle: 'handle',
  missing_query: 'q',
  invalid_query: 'q',
  invalid_feed: 'feed',
  invalid_resource: 'resource',
  invalid_cursor: 'cursor',
  invalid_format: 'format',
  invalid_thread: 'thread',
  invalid_context: 'context',
  invalid_replies: 'replies',
  invalid_userinfo: 'userinfo',
  not_implemented: 'format',
  missing_message: 'message',
  invalid_message: 'message',
  invalid_start_index: 'startIndex',
};

interface ProblemOptions {
  /** Description for the caller, for example with the invalid parameter and accepted values. */
  readonly detail: string;
  /** Next step for the caller. Default: `resolution` in the table `problemKinds`. */
  readonly resolution?: string | undefined;
  /** Parameter or body member at fault. Default: the parameter of the code, if it has one. */
  readonly param?: string | undefined;
  /** Value of `Retry-After` in seconds. Default: that in the table `problemKinds`. */
  readonly retryAfterSeconds?: number | undefined;
  /** HTTP methods for the header `Allow`. Used only with the code `method_not_allowed`. */
  readonly allow?: readonly string[] | undefined;
  /** Reason why a post is unavailable, if a source says so. Only with the code `not_found`. */
  readonly unavailable?: UnavailablePost | undefined;
  readonly cause?: unknown;
}

type UnavailablePost = Readonly<{ reason: string; detail: string }>;

/** Error whose code and message are sent to the client. Others become `internal_error`. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly status: number;
  readonly resolution: string;
  readonly param: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: readonly string[] | undefined;
  readonly unavailable: UnavailablePost | undefined;

  constructor(code: ProblemCode, { detail, cause, ...options }: ProblemOptions) {
    super(detail, { cause });
    const kind: ProblemKind = problemKinds[code];
    this.code = code;
    this.status = kind.status;
    this.resolution = options.resolution ?? kind.resolution;
    this.param = options.param ?? faultyParams[code];
    this.retryAfterSeconds = options.retryAfterSeconds ?? kind.retryAfterSeconds;
    this.allow = options.allow;
    this.unavailable = options.unavailable;
  }

  /** Returns a copy of the problem with other texts, or with another parameter at fault. */
  with(changes: Partial<ProblemOptions>): Problem {
    const { message: detail, cause } = this;
    return new Problem(this.code, { ...this, detail, cause, ...changes });
  }
}

/** Media type of problem documents (RFC 9457 §3). */
export const problemMediaType = 'application/problem+json; charset=utf-8';

/** Returns the document (RFC 9457 §3.1). `where.instance`: path and query, without secrets. */
export function toProblemDocument(
  problem: Problem,
  where: { readonly baseUrl: string; readonly instance?: string | undefined },
) {
  const { code, status, param, resolution, unavailable, retryAfterSeconds } = problem;
  return {
    type: toProblemType(code, where.baseUrl),
    title: problemKinds[code].title,
    status,
    detail: problem.message,
    ...(where.instance !== undefined && { instance: where.instance }),
    code,
    ...(param !== undefined && { param }),
    resolution,
    ...(unavailable !== undefined && { unavailable }),
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

/** Returns what a resolution says beyond the default of its code; otherwise an empty string. */
export function adviceBesides({ code, resolution }: Pick<Problem, 'code' | 'resolution'>): string {
  const { resolution: usual } = problemKinds[code];
  return resolution.startsWith(usual) ? resolution.slice(usual.length).trim() : '';
}
