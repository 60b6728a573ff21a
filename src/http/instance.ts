import { redactKeys } from '../core/redact.ts';

/**
 * Gives the path and query of a request as a URI reference, without secrets: the values of
 * parameters that are named like one, and whatever looks like a bearer key.
 */
export function toInstance(url: string): string {
  return redactKeys(Buffer.from(url).toString())
    .replaceAll(/([?&][^=&]*(?:key|token|secret|password|authorization)[^=&]*=)[^&]*/gi, '$1…')
    .replaceAll(/[^\x21-\x7e]|["<>\\^`{|}]/g, (character) => encodeURIComponent(character));
}
