import type { Problem, ProblemCode, SessionEvent } from './generated.ts';

/** Complete answer of a session: the data of the event `message.completed`. */
export type Answer = Extract<SessionEvent, { readonly type: 'message.completed' }>['data'];

/** Base class of all errors of this package. `code` identifies the kind of error. */
export abstract class PerchError extends Error {
  abstract readonly code: string;
  /** Sentence that tells the caller how to resolve the error. */
  readonly resolution: string;

  constructor(message: string, { resolution, cause }: { resolution: string; cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.resolution = resolution;
  }
}

/**
 * Error that the server reports with a problem document (RFC 9457). A newer server can send a
 * `code` that the type `ProblemCode` does not list.
 */
export class ProblemError extends PerchError {
  readonly code: ProblemCode;
  readonly status: number;
  readonly title: string;
  /** Name of the parameter at fault; `undefined` if the error does not concern a parameter. */
  readonly param: string | undefined;
  /** Time to wait before the request may succeed, in milliseconds; `undefined` if the server did not send it. */
  readonly retryAfterMs: number | undefined;
  /** Id of the request in the log of the server. */
  readonly requestId: string | undefined;

  constructor(problem: Problem, requestId?: string) {
    super(problem.detail, { resolution: problem.resolution });
    this.code = problem.code as ProblemCode; // closed, so that `switch` can narrow it
    this.status = problem.status;
    this.title = problem.title;
    this.param = problem.param;
    this.retryAfterMs = problem.retry_after === undefined ? undefined : problem.retry_after * 1000;
    this.requestId = requestId;
  }
}

const connectionResolutions = {
  connection_failed: 'Check the address in `baseUrl`, and whether the server is running.',
  connection_lost: 'Try again.',
  no_response: 'Try again, or increase `stallMs`.',
} as const;

/** Error for a failed connection to the server, thrown after all retries. */
export class ConnectionError extends PerchError {
  readonly code: keyof typeof connectionResolutions;

  constructor(code: ConnectionError['code'], message: string, cause?: unknown) {
    super(message, { resolution: connectionResolutions[code], cause });
    this.code = code;
  }
}

/** Error for a call that took longer than `deadlineMs`. `cause` is the error of the last attempt, if any. */
export class DeadlineError extends PerchError {
  readonly code = 'deadline_exceeded';

  constructor(cause?: unknown) {
    const resolution = 'Try again later, or increase `deadlineMs`.';
    super('The call took longer than its deadline.', { resolution, cause });
  }
}

/** Error for a response that is not from Perch, or that contradicts the description of the API. */
export class ResponseError extends PerchError {
  readonly code: 'unexpected_response' | 'repeated_cursor';
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ResponseError['code'],
    message: string,
    { status, retryAfterMs }: { status: number; retryAfterMs?: number | undefined },
  ) {
    const resolution = 'Check whether `baseUrl` is the address of a Perch server.';
    super(message, {
      resolution: code === 'repeated_cursor' ? 'Report this to the operator.' : resolution,
    });
    this.code = code;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Error for a question that failed or was cancelled, or whose session ended. */
export class TurnError extends PerchError {
  readonly code: 'turn_failed' | 'turn_cancelled' | 'session_ended';
  /** Answer, if it was complete before the failure; otherwise `null`. */
  readonly answer: Answer | null;

  constructor(code: TurnError['code'], message: string, answer: Answer | null) {
    const isEnded = code === 'session_ended';
    super(message, { resolution: isEnded ? 'Start a new session.' : 'Ask the question again.' });
    this.code = code;
    this.answer = answer;
  }
}

/** Union of all errors of this package. A `switch` over `code` narrows an error to its class. */
export type AnyPerchError =
  | ProblemError
  | ConnectionError
  | DeadlineError
  | ResponseError
  | TurnError;
