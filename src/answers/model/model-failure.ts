import type { FallbackCode } from '../answer.ts';

/**
 * Failure of a language model to answer as it has to. The message is for people; it holds nothing that the endpoint
 * has sent, which may tell the key. `retryAfterSeconds` is how long the endpoint wants to be left alone.
 */
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
