import { readFileSync } from 'node:fs';
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import { get as getSecure } from 'node:https';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { findCaddyFaults, findNginxFaults, requireProgram } from '../support/config-checkers.ts';
import { listFences } from '../support/doc-examples.ts';
import { listen, upstream } from '../support/listen.ts';
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
      const base = await start([new URL(perch.url).host]);

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

describe('the load balancers', () => {
  it.for([
    ['nginx', startNginx, findNginxBalancer],
    ['caddy', startCaddy, findCaddyBalancer],
  ] as const)(
    '%s still serves other reads while a source fails on all instances',
    async ([program, start, find], { skip }) => {
      requireProgram(program, skip);
      const instances = [await listen(offline), await listen(offline)];
      const base = await start(
        instances.map(({ url }) => new URL(url).host),
        find(),
      );
      const read = async (path: string) => (await request(`${base}${path}`)).statusCode;
      const failed = [await read('/wren/status/21'), await read('/wren/status/22')];
      const sample: (number | undefined)[] = [];

      for (let count = 0; count < 8; count += 1) sample.push(await read('/ada.example'));

      expect(failed).toEqual([503, 503]);
      expect(sample).toEqual(Array(8).fill(200));
    },
  );

  it.for([
    ['nginx', startNginx, findNginxBalancer],
    ['caddy', startCaddy, findCaddyBalancer],
  ] as const)(
    '%s repeats a read on the other instance if one accepts no connection',
    async ([program, start, find], { skip }) => {
      requireProgram(program, skip);
      const instance = await listen(offline);
      const base = await start([new URL(instance.url).host, '127.0.0.1:1'], find());
      const sample: (number | undefined)[] = [];

      for (let count = 0; count < 4; count += 1) {
        sample.push((await request(`${base}/ada.example`)).statusCode);
      }

      expect(sample).toEqual(Array(4).fill(200));
    },
  );
});

/** Settings with sources on X that refuse connections. */
const offline = {
  PERCH_FXTWITTER_URL: 'http://127.0.0.1:1',
  PERCH_SYNDICATION_URL: 'http://127.0.0.1:1',
};

/** Returns the configuration for nginx in `docs/instances.md`. */
function findNginxBalancer(): string | undefined {
  const fences = listFences(read('docs/instances.md'));
  return fences.find(({ language }) => language === 'nginx')?.text;
}

/** Returns the configuration for Caddy in `compose.instances.yaml`. */
function findCaddyBalancer(): string {
  const { configs } = parse(read('compose.instances.yaml'));
  return configs.caddyfile.content;
}

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
