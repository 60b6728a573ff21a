/**
 * Gives the path and query of a request as a URI reference, without secrets: the values of
 * parameters that are named like one, and whatever looks like a bearer key.
 */
export function toInstance(url: string): string {
  return Buffer.from(url)
    .toString()
    .replaceAll(/([?&][^=&]*(?:key|token|secret|password|authorization)[^=&]*=)[^&]*/gi, '$1…')
    .replaceAll(/perch_[A-Za-z0-9_-]{43}/g, 'perch_…')
    .replaceAll(/[^\x21-\x7e]|["<>\\^`{|}]/g, (character) => encodeURIComponent(character));
}
