import type { HttpFailure } from '../../core/http/http-client.ts';
import { ProviderError, type ProviderErrorOptions } from '../../platforms/provider-error.ts';
import { createMalformed, toProviderError } from '../failure.ts';

/** A failure of one server says nothing of the others, so none of these is general. */
const ofOneServer = { isGeneral: false } as const;

/** Gives what it means for a read that a server sent no usable answer. */
export function toServerFailure(failure: HttpFailure): ProviderError {
  const { kind, message } = toProviderError(failure);
  return new ProviderError(kind, message, { ...ofOneServer, cause: failure });
}

/** Gives the failure to understand an answer of a server. */
export function createUnreadable(cause?: unknown): ProviderError {
  return new ProviderError('malformed', createMalformed().message, { ...ofOneServer, cause });
}

/** Gives the failure of a server that cannot answer at the moment, or will not. */
export function createUnavailable(sentence: string): ProviderError {
  return new ProviderError('unavailable', sentence, ofOneServer);
}

/** Gives the failure of a server that is asked too often. */
export function createThrottled(host: string, retryAfterSeconds: number): ProviderError {
  const options: ProviderErrorOptions = { ...ofOneServer, retryAfterSeconds };
  return new ProviderError('throttled', `The server ${host} asks for fewer requests.`, options);
}

/** Gives what a status says of a server whatever was asked for; null for any other status. */
export function toStatusFailure(status: number, host: string): ProviderError | null {
  switch (status) {
    case 401:
      return createUnavailable(`The server ${host} allows no reading without a login.`);
    case 403:
      return createUnavailable(`The server ${host} refuses to be read by this server.`);
    case 422:
      return createUnavailable(`The server ${host} does not show this to visitors.`);
    default:
      return status < 500
        ? null
        : createUnavailable(`The server ${host} is failing at the moment.`);
  }
}

const missing = {
  post: 'There is no such post on its server, or it is not public.',
  account: 'There is no such account on its server.',
} as const;

/** Gives the failure to read what its own server says is not there. */
export function toAbsence(what: keyof typeof missing): ProviderError {
  return new ProviderError('missing', missing[what]);
}

/** Gives the failure to read of an account that its server has suspended. */
export function createSuspended(): ProviderError {
  return new ProviderError('missing', 'This account is suspended.');
}
