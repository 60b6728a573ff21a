import type { FallbackCode } from '../answer.ts';

/**
 * A language model that did not answer as it has to. The message is a sentence for people; it holds
 * nothing that the endpoint has sent, which may tell the key.
 */
export class ModelFailure extends Error {
  readonly code: FallbackCode;
  /** Seconds for which the endpoint wants to be left alone, where it said so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: FallbackCode, message: string, retryAfterSeconds?: number) {
    super(message);
    this.name = 'ModelFailure';
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
