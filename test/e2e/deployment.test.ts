import { readFileSync } from 'node:fs';
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import { get as getSecure } from 'node:https';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findCaddyFaults, findNginxFaults, requireProgram } from '../support/config-checkers.ts';
import { listFences } from '../support/doc-examples.ts';
import { upstream } from '../support/listen.ts';
import { startCaddy, startNginx } from '../support/proxies.ts';

const read = (path: string) => readFileSync(path, 'utf8');

describe('the files in docs/deploy.md', () => {
  const shown = listFences(read('docs/deploy.md')).map(({ text }) => withoutComments(text));

  it.each(['deploy/Caddyfile', 'deploy/nginx.conf', 'deploy/perch.service', 'compose.yaml'])(
    'include %s, with or without comments',
    (path) => {
      expect(shown).toContain(withoutComments(read(path)));
    },
  );
});

/** Returns a configuration without comments and empty lines. */
function withoutComments(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  return lines.filter((line) => line !== '' && !line.trimStart().startsWith('#')).join('\n');
}

describe('the proxy samples', () => {
  it('nginx accepts deploy/nginx.conf', ({ skip }) => {
    requireProgram('nginx', skip);

    expect(findNginxFaults(read('deploy/nginx.conf'))).toBe('');
  });

  it('Caddy accepts deploy/Caddyfile', ({ skip }) => {
    requireProgram('caddy', skip);

    expect(findCaddyFaults(read('deploy/Caddyfile'))).toBe('');
  });

  it.for([
    ['nginx', startNginx],
    ['caddy', startCaddy],
  ] as const)(
    '%s forwards each line, the URL and the client address',
    async ([program, start], { skip }) => {
      requireProgram(program, skip);
      const answers: ServerResponse[] = [];
      const perch = await upstream((_, response) => {
        response.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).write('{"line":1}\n');
        answers.push(response);
      });
      const base = await start(new URL(perch.url).host);

      const response = await request(`${base}/https://x.com/jack/status/20?a=%2F`);
      const lines = response.setEncoding('utf8')[Symbol.asyncIterator]();
      const first = await lines.next();
      // The second line is written only after the first has arrived.
      answers[0]?.end('{"line":2}\n');
      const second = await lines.next();

      expect([first.value, second.value]).toEqual(['{"line":1}\n', '{"line":2}\n']);
      const [seen] = perch.requests;
      expect(seen?.url).toBe('/https://x.com/jack/status/20?a=%2F');
      expect(seen?.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1' });
      expect(seen?.headers.host).toMatch(/^127\.0\.0\.1\b/);
    },
  );
});

/** Sends a GET request with a new connection. Accepts the certificate of the test. */
function request(url: string): Promise<IncomingMessage> {
  const options = { agent: false, rejectUnauthorized: false } as const;
  return new Promise((resolve, reject) => {
    const sent = url.startsWith('https:')
      ? getSecure(url, options, resolve)
      : get(url, options, resolve);
    sent.on('error', reject);
    onTestFinished(() => void sent.destroy());
  });
}
