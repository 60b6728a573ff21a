import { redactKeys } from '../core/redact.ts';

/**
 * Returns the path and query of a request as a URI reference. Removes API keys, and the values of
 * parameters whose names suggest a secret.
 */
export function toInstance(url: string): string {
  return hideSecrets(redactKeys(Buffer.from(url).toString())).replaceAll(
    /[^\x21-\x7e]|["<>\\^`{|}]/g,
    (character) => encodeURIComponent(character),
  );
}

function hideSecrets(url: string): string {
  const query = url.search(/[?&]/);
  if (query === -1) return url;
  return url.slice(0, query) + url.slice(query).split('&').map(hideSecret).join('&');
}

const secretName = /key|token|secret|password|authorization/i;

/**
 * Replaces the value of a query parameter with `…` if the parameter's name suggests a secret, such
 * as `token`. If the value is a URL, does the same for the query parameters of that URL.
 */
function hideSecret(parameter: string): string {
  const names = parameter.split('=').slice(0, -1);
  const at = names.findIndex((name) => secretName.test(name));
  return at === -1 ? parameter : `${names.slice(0, at + 1).join('=')}=…`;
}
