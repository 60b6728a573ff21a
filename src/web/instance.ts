import { redactKeys } from '../core/redact.ts';

/** Returns a request's path and query as a URI reference, without API keys and values of secret parameters. */
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

/** Cuts a parameter after its first secret name. A parameter has several names if its value is a URL with a query. */
function hideSecret(parameter: string): string {
  const names = parameter.split('=').slice(0, -1);
  const at = names.findIndex((name) => secretName.test(name));
  return at === -1 ? parameter : `${names.slice(0, at + 1).join('=')}=…`;
}
