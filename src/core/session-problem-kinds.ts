/** The part of the catalogue of problems that only sessions have. */
export const sessionProblemKinds = {
  missing_message: {
    status: 400,
    title: 'No message',
    resolution: 'Send the question as the member `message` of the JSON body, a string.',
    when: 'a session was started or continued without `message`, or with a blank one',
  },
  invalid_message: {
    status: 400,
    title: 'Message is not text',
    resolution: 'Send `message` as a string, or as an array of `{ "type": "text", "text": … }`.',
    when: 'the `message` of a session is neither a string nor a list of text parts',
  },
  invalid_start_index: {
    status: 400,
    title: 'Start index is not an integer',
    resolution:
      'Send `startIndex` as an integer: the index of an event from 0, or a negative number to count from the end.',
    when: 'the `startIndex` of a stream is not an integer',
  },
  missing_continuation_token: {
    status: 400,
    title: 'No continuation token',
    resolution:
      'Send the `continuationToken` of the start response in the header `X-Continuation-Token`.',
    when: 'a session was continued or reset without its continuation token',
  },
  conflicting_continuation_tokens: {
    status: 400,
    title: 'Two continuation tokens',
    resolution: 'Send the token in the header `X-Continuation-Token` or in the body, not both.',
    when: 'the header and the body name different continuation tokens',
  },
  missing_bearer: {
    status: 401,
    title: 'No bearer token',
    resolution: 'Send any bearer token: `Authorization: Bearer …`.',
    when: 'a session route was called without a bearer token, and the operator demands one',
  },
  invalid_continuation_token: {
    status: 403,
    title: 'Not the token of this session',
    resolution: 'Use the `continuationToken` of the start response of this session, unchanged.',
    when: 'the continuation token is not the one of the session',
  },
  session_forbidden: {
    status: 403,
    title: 'Session of somebody else',
    resolution: 'Use the bearer token that the session was started with.',
    when: 'the bearer token is not the one that the session was started with, and the operator binds sessions to it',
  },
  session_not_found: {
    status: 404,
    title: 'No such session',
    resolution: 'Start a session, and use the `sessionId` of its start response.',
    when: 'the session id was never issued, or is forgotten',
  },
  session_not_active: {
    status: 409,
    title: 'Session has ended',
    resolution: 'Start a new session; the events of this one can still be read for a while.',
    when: 'a message was sent to a session that has ended or failed',
  },
  turn_in_progress: {
    status: 409,
    title: 'A turn is in progress',
    resolution: 'Wait for `session.waiting` on the stream, or leave `turnPolicy` out to queue.',
    when: 'a message was sent with `turnPolicy` `reject` while a turn is queued or running',
  },
  session_expired: {
    status: 410,
    title: 'Session is gone',
    resolution: 'Start a new session; the events of this one are deleted.',
    when: 'the session has ended so long ago that it was deleted',
  },
  unsupported_feature: {
    status: 422,
    title: 'Feature not supported',
    resolution: 'Leave out the member that the detail names.',
    when: 'a message asks for structured results or answers a request for input',
  },
  idempotency_conflict: {
    status: 422,
    title: 'Idempotency key used before',
    resolution: 'Send a new `Idempotency-Key` with another request.',
    when: 'the same `Idempotency-Key` came with another request in the last 24 hours',
  },
  turn_queue_full: {
    status: 429,
    title: 'Too many messages wait',
    resolution: 'Wait the number of seconds in `Retry-After`, then send the message again.',
    when: 'as many messages of the session, or of the address, wait for an answer as may wait',
    retryAfterSeconds: 1,
  },
  not_ready: {
    status: 503,
    title: 'Sessions not ready',
    resolution: 'Retry after the number of seconds in `Retry-After`.',
    when: 'the session service cannot answer yet, because its index is being built or its store cannot be used',
    retryAfterSeconds: 2,
  },
} as const;
