/** The testable clauses of the conversational session service specification, each id with its text. */
export const sessionServiceClauses = {
  // What the service does
  'session.what.answers_messages': 'The service answers questions posed as messages.',
  'session.what.start_returns_id_and_token':
    'A client starts a session with a message and receives a session id and a continuation token.',
  'session.what.events_as_ndjson':
    "The client reads the session's events as a newline-delimited JSON stream.",
  'session.what.answer_is_last_completed':
    'The answer is the assistant message of the last `message.completed` event in the stream.',
  'session.what.follow_up_same_session':
    'The client sends follow-ups to the same session with the continuation token.',

  // Resources and their fields
  'session.resources.session_id': 'Start response `sessionId` (string): identifies the session.',
  'session.resources.continuation_token_opaque':
    'Start response `continuationToken` (string): opaque.',
  'session.resources.continuation_token_reused':
    'Start response `continuationToken` (string): reused for follow-ups.',
  'session.resources.ok': 'Start response `ok` (boolean): present in the start response.',
  'session.resources.message_required_on_start':
    'Request body `message` (string): required on start.',
  'session.resources.message_required_on_follow_up':
    'Request body `message` (string): required on follow-up.',
  'session.resources.event_type': 'Stream event `type` (string): one of the event types in Events.',

  // Endpoints
  'session.endpoints.start_request':
    'POST `/svc/v1/session` takes a JSON body with `message`, the header `Content-Type: application/json` and a bearer token.',
  'session.endpoints.start_response':
    'POST `/svc/v1/session` responds with a JSON object with `sessionId`, `continuationToken`, `ok`.',
  'session.endpoints.follow_up_request':
    'POST `/svc/v1/session/:sessionId` takes a JSON body with `message`, a bearer token and `Content-Type: application/json`.',
  'session.endpoints.follow_up_continuation_header':
    'POST `/svc/v1/session/:sessionId` takes the header `X-Continuation-Token` carrying the token from the start response.',
  'session.endpoints.follow_up_result':
    'POST `/svc/v1/session/:sessionId` responds with the follow-up result.',
  'session.endpoints.stream_content_type':
    'GET `/svc/v1/session/:sessionId/stream` takes no request body and responds with `application/x-ndjson; charset=utf-8`.',
  'session.endpoints.stream_one_event_per_line':
    'GET `/svc/v1/session/:sessionId/stream` responds with one event object per line.',
  'session.endpoints.health':
    'GET `/svc/v1/health` takes no request body and responds with the health probe result.',
  'session.endpoints.client_reads_line_by_line': 'A client reads the stream line by line.',
  'session.endpoints.client_returns_last_completed':
    'A client keeps the last `message.completed` event, and returns its assistant message as the answer.',

  // Authentication
  'session.auth.bearer_on_every_request':
    'A bearer token is sent on every request as `Authorization: Bearer <API_KEY>`.',
  'session.auth.any_token_accepted': 'The service currently accepts any token.',
  'session.auth.clients_still_send_token':
    'Clients should still send a token, so the contract is stable when real authentication is added.',

  // Events
  'session.events.json_object_per_line': 'The stream carries one JSON object per line.',
  'session.events.each_has_type': 'Each JSON object of the stream has a `type`.',
  'session.events.turn_started_first': '`turn.started`: first of the types shown.',
  'session.events.message_appended_follows': '`message.appended`: follows `turn.started`.',
  'session.events.message_completed_completes': '`message.completed`: completes a message.',
  'session.events.last_completed_holds_answer':
    '`message.completed`: the last one holds the answer.',

  // Versioning
  'session.versioning.path_prefix': 'The path prefix `/svc/v1` marks the interface version.',
} as const;
