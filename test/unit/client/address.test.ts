import { expect, it } from 'vitest';
import { createPerch, type PerchOptions } from '../../../clients/typescript/src/index.ts';

it.each([
  ['perch.example:8080', '"perch.example:8080"', '"http://perch.example:8080"'],
  ['127.0.0.1:9000', '"127.0.0.1:9000"', '"http://127.0.0.1:9000"'],
  ['perch.example/read', 'not a URL', '"http://perch.example/read"'],
  [undefined, 'is missing', '"http://localhost:8080"'],
  [null, 'is missing', '"http://localhost:8080"'],
  ['', 'is empty', '"http://localhost:8080"'],
  ['  ', 'is empty', '"http://localhost:8080"'],
  ['ftp://perch.example', 'does not start with "http://"', '"http://localhost:8080"'],
  ['http:perch.example', 'does not start with "http://"', '"http://localhost:8080"'],
  ['//perch.example', 'not a URL', '"http://localhost:8080"'],
  ['https://perch.example/?a=b', 'has a query', '"http://localhost:8080"'],
  [new URL('file:///etc/perch'), '"file:///etc/perch"', '"http://localhost:8080"'],
])('is refused as baseUrl: %s', (baseUrl, fault, example) => {
  const create = () => createPerch({ baseUrl } as PerchOptions);

  expect(create).toThrow(TypeError);
  expect(create).toThrow(/^The option `baseUrl` /);
  expect(create).toThrow(fault);
  expect(create).toThrow(`such as ${example}.`);
});

it('does not show a password', () => {
  const create = () => createPerch({ baseUrl: 'https://ada:secret@perch.example' });

  expect(create).toThrow('contains a user name or a password');
  expect(create).not.toThrow('secret');
});

it('names the option of sessions', () => {
  const options = { baseUrl: 'http://perch.test', sessionsUrl: 'perch.test/svc/v1' };

  expect(() => createPerch(options)).toThrow('The option `sessionsUrl` is "perch.test/svc/v1"');
});

it('is required even without options', () => {
  expect(() => (createPerch as unknown as () => void)()).toThrow('The option `baseUrl` is missing');
});

it.each([
  ['http://perch.test', 'http://perch.test/api/v1/search?'],
  ['http://perch.test///', 'http://perch.test/api/v1/search?'],
  ['https://perch.test/read/', 'https://perch.test/read/api/v1/search?'],
  [new URL('http://perch.test:8080'), 'http://perch.test:8080/api/v1/search?'],
])('accepts %s', async (baseUrl, start) => {
  const urls: string[] = [];
  const perch = createPerch({
    baseUrl,
    retries: 0,
    fetch: async (url) => {
      urls.push(url);
      return new Response('{"posts":[]}', { headers: { 'content-type': 'application/json' } });
    },
  });

  for await (const _post of perch.search.posts('heron')) break;

  expect(urls).toEqual([expect.stringContaining(start)]);
});
