import { redactCredentials, redactKeys } from '../lib/redact.ts';

/** Returns path and query without API keys and without the values of secret-looking names. */
export function toInstance(url: string): string {
  return hideSecrets(redactKeys(Buffer.from(url).toString())).replaceAll(
    /[^\x21-\x7e]|["<>\\^`{|}]/g,
    (character) => encodeURIComponent(character),
  );
}

function hideSecrets(url: string): string {
  const [path = ''] = url.split(/[?&]/, 1);
  const parameters = url.slice(path.length).split('&');
  return path.replace(/(?<=^\/).+/s, hideCredentials) + parameters.map(hideSecret).join('&');
}

const secretName = /key|token|secret|password|authorization/i;

function hideSecret(parameter: string): string {
  const names = parameter.split('=').slice(0, -1);
  const at = names.findIndex((name) => secretName.test(name));
  if (at !== -1) return `${names.slice(0, at + 1).join('=')}=…`;
  return parameter.replace(/(?<==).+/s, hideCredentials);
}

function hideCredentials(text: string): string {
  const decoded = decodeComponent(text);
  const shown = redactCredentials(decoded);
  return shown === decoded ? text : shown;
}

function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
