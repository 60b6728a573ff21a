import { z } from 'zod';
import type { HttpAnswer } from '../../core/http/http-client.ts';
import { lenient, words } from '../../platforms/lenient.ts';
import type { ProviderError } from '../../platforms/provider-error.ts';
import { createMalformed, toStatusFailure } from '../failure.ts';
import { readJson } from '../upstream.ts';

/** The object of JSON that every answer of the service is. */
export type Body = Readonly<Record<string, unknown>>;

/** The member `cursor` of a list: where it goes on. */
export const cursors = lenient(z.object({ bottom: words }));

/** Reads an object of JSON; null for anything else. */
export function readBody(answer: HttpAnswer): Body | null {
  const body = readJson(answer);
  return isBody(body) ? body : null;
}

function isBody(body: unknown): body is Body {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}

/**
 * Gives the status that the service meant: HTTP's, except that a proxy may answer 200 for it. Then
 * `code` has what the service said (FxTwitter, section 3).
 */
export function trueStatus({ status }: HttpAnswer, body: Body | null): number {
  return status === 200 && typeof body?.code === 'number' ? body.code : status;
}

/** Gives the failure of an answer that says nothing of what was asked for. */
export function toAnswerFailure(answer: HttpAnswer, body: Body | null): ProviderError {
  return toStatusFailure(trueStatus(answer, body), answer.retryAfterSeconds) ?? createMalformed();
}
