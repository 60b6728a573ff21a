/**
 * Checks an address in the options of the client, and returns it without slashes at its end.
 * @throws TypeError that names the option if the value is not an http or https URL
 */
export function checkAddress(name: 'baseUrl' | 'sessionsUrl', value: unknown): string {
  const text = String(value ?? '').trim();
  const url = URL.canParse(text) ? new URL(text) : null;
  const fault = describeFault(value, text, url);
  if (fault === null) return text.replace(/\/+$/, '');
  const example = suggestAddress(name, text);
  throw new TypeError(
    `The option \`${name}\` ${fault}. Set it to the address of a Perch server, such as "${example}".`,
  );
}

function describeFault(value: unknown, text: string, url: URL | null): string | null {
  if (value === undefined || value === null) return 'is missing';
  if (text === '') return 'is empty';
  if (url !== null && url.username + url.password !== '') {
    return 'contains a user name or a password';
  }
  const shown = JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
  if (url === null) return `is ${shown}, which is not a URL`;
  if (!/^https?:$/.test(url.protocol) || !/^https?:\/\//i.test(text)) {
    return `is ${shown}, which does not start with "http://" or "https://"`;
  }
  return url.search + url.hash === '' ? null : `is ${shown}, which has a query or a fragment`;
}

/** Returns the address that a host without a scheme, such as `localhost:8080`, stands for; otherwise an example. */
function suggestAddress(name: 'baseUrl' | 'sessionsUrl', text: string): string {
  const [, host = '', path = ''] =
    /^([a-z0-9.-]+(?::\d{1,5})?)(\/[\w./-]{0,80})?$/i.exec(text) ?? [];
  if (host.length > 0 && host.length < 100 && URL.canParse(`http://${host}`)) {
    return `http://${host}${path}`;
  }
  return name === 'baseUrl' ? 'http://localhost:8080' : 'http://localhost:8080/svc/v1';
}
