import type { FallbackCode } from '../answer.ts';

/** Failure of a model. Never quotes the response, which might contain the API key. */
export class ModelFailure extends Error {
  readonly code: FallbackCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: FallbackCode, message: string, retryAfterSeconds?: number) {
    super(message);
    this.name = 'ModelFailure';
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
