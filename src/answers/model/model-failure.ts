import type { FallbackCode } from '../answer.ts';

/** Failure of a language model. The message is for people, without what the endpoint has sent: that may tell the key. */
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
