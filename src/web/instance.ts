import { redactKeys } from '../core/redact.ts';

/**
 * Returns the path and query of a request as a URI reference, without API keys and the values of
 * secret parameters.
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
 * Removes the value of a query parameter whose name suggests a secret, such as `token`. Also does
 * so within a nested URL.
 */
function hideSecret(parameter: string): string {
  const names = parameter.split('=').slice(0, -1);
  const at = names.findIndex((name) => secretName.test(name));
  return at === -1 ? parameter : `${names.slice(0, at + 1).join('=')}=…`;
}
