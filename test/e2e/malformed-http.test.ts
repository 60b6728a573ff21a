import { describe, expect, it } from 'vitest';
import { clause } from '../support/clause.ts';
import { exchange, listen } from '../support/listen.ts';

const long = 'a'.repeat(20_000);

describe('what is not a request', () => {
  clause('read.problem.media_type', 'read.errors.problem_documents').each([
    ['no Host', 'GET /nope HTTP/1.1\r\n\r\n', 'malformed_request'],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 'malformed_request'],
    ['no method', ' / HTTP/1.1\r\nHost: x\r\n\r\n', 'malformed_request'],
    ['an unknown method', 'FETCH / HTTP/1.1\r\nHost: x\r\n\r\n', 'malformed_request'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 'malformed_request'],
    [
      'TLS',
      Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x0d, 0x0a]),
      'malformed_request',
    ],
    [
      'a control character in a header',
      'GET / HTTP/1.1\r\nHost: x\r\nA: \u0001\r\n\r\n',
      'malformed_request',
    ],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      'malformed_request',
    ],
    [
      'a length that is no number',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n',
      'malformed_request',
    ],
    ['headers over 16 KiB', `GET / HTTP/1.1\r\nHost: x\r\nA: ${long}\r\n\r\n`, 'headers_too_large'],
    ['a URL of 20 kB', `GET /${long} HTTP/1.1\r\nHost: x\r\n\r\n`, 'uri_too_long'],
    [
      'a URL of a megabyte',
      `GET /${'a'.repeat(1_000_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      'uri_too_long',
    ],
    [
      'a URL of 9 kB',
      `GET /${'a'.repeat(9000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      'uri_too_long',
    ],
  ])('closes after the problem: %s', async (_, sent, code) => {
    const { port } = await listen();

    const received = await exchange(port, [sent]);

    const [head = '', body = ''] = received.split('\r\n\r\n');
    const problem = JSON.parse(body);
    expect(problem.code).toBe(code);
    expect(head).toContain(`HTTP/1.1 ${problem.status} `);
    expect(head.toLowerCase()).toContain('content-type: application/problem+json; charset=utf-8');
    expect(head.toLowerCase()).toContain('connection: close');
    expect(head.toLowerCase()).toMatch(/x-request-id: [\w-]+/);
    expect(problem.resolution.length).toBeGreaterThan(10);
  });

  clause('read.problem.media_type')(
    'answers a request that never ends with request_timeout',
    async () => {
      const { port } = await listen({ PERCH_REQUEST_TIMEOUT_MS: '150' });

      const received = await exchange(port, ['GET / HTTP/1.1\r\nHost: x\r\nA: b']);

      expect(received).toContain('HTTP/1.1 408 Request Timeout');
      expect(received).toContain('"code":"request_timeout"');
    },
  );

  clause('read.endpoints.public_routes_get')(
    'serves an unknown Expect as if it were absent',
    async () => {
      const { port } = await listen();

      const received = await exchange(port, [
        'GET /health/live HTTP/1.1\r\nHost: localhost\r\nExpect: miracles\r\nConnection: close\r\n\r\n',
      ]);

      expect(received).toContain('HTTP/1.1 200 OK');
    },
  );

  clause('read.problem.media_type')('answers garbage after a good request too', async () => {
    const { port } = await listen();

    const received = await exchange(
      port,
      ['GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n', 'GARBAGE\r\n\r\n'],
      'HTTP/1.1 200 OK',
    );

    expect(received).toContain('"status":"ok"');
    expect(received).toContain('"code":"malformed_request"');
  });

  clause(
    'read.errors.deprecated_routes_keep_headers',
    'read.versioning.three_signals_every_response',
  ).each([
    ['headers over 16 KiB', `GET /api/convert?url=x HTTP/1.1\r\nHost: x\r\nA: ${long}\r\n\r\n`],
    ['a bad header', 'GET /api/browse HTTP/1.1\r\nHost: x\r\nA: \u0001\r\n\r\n'],
    ['another spelling', 'GET /api/%63onvert HTTP/1.1\r\nHost: x\r\nA: \u0001\r\n\r\n'],
    ['an absolute URL', 'GET http://x/api/convert HTTP/1.1\r\nHost: x\r\nA: \u0001\r\n\r\n'],
    ['a rare method', 'M-SEARCH /api/convert HTTP/1.1\r\nHost: x\r\nA: \u0001\r\n\r\n'],
  ])('tells the dates of an alias where %s makes it no request', async (_, sent) => {
    const { port } = await listen();

    const received = (await exchange(port, [sent])).toLowerCase();

    expect(received).toMatch(/^http\/1.1 4\d\d /);
    expect(received).toContain('deprecation: @1789430400\r\n');
    expect(received).toContain('sunset: wed, 15 sep 2027 00:00:00 gmt\r\n');
    expect(received).toContain('access-control-allow-origin: *\r\n');
  });

  clause('read.endpoints.public_routes_get')('answers CONNECT with 405', async () => {
    const { port } = await listen();

    const received = await exchange(port, ['CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\n\r\n']);

    expect(received).toContain('HTTP/1.1 405 Method Not Allowed');
    expect(received.toLowerCase()).toContain('allow: get, head');
  });

  it.each([
    ['a bad header', 'GET /svc/v1/health HTTP/1.1\r\nHost: x\r\nA: \u0001\r\n\r\n', 400],
    ['no Host', 'GET /svc/v1/session/ses_a/stream HTTP/1.1\r\n\r\n', 400],
    [
      'headers over 16 KiB',
      `POST /%73vc/v1/session HTTP/1.1\r\nHost: x\r\nA: ${long}\r\n\r\n`,
      431,
    ],
    ['a URL of 20 kB', `GET /svc/v1/${long} HTTP/1.1\r\nHost: x\r\n\r\n`, 414],
    [
      'a broken percent-encoding',
      'GET /svc/v1/session/%/stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      400,
    ],
    ['two lengths', `${post}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400],
  ])('tells of %s as the session service tells of problems', async (_what, sent, status) => {
    const { port } = await listen({ PERCH_SESSIONS: 'on' });

    const received = await exchange(port, [sent]);

    expectSessionProblem(received, status);
  });

  it('tells so of a body whose pieces are no pieces, and of one that does not come', async () => {
    const { port } = await listen({ PERCH_SESSIONS: 'on', PERCH_REQUEST_TIMEOUT_MS: '300' });
    const cancel = 'POST /svc/v1/session/ses_a/cancel HTTP/1.1\r\nHost: localhost\r\n';
    const ready = 'Content-Type: application/json\r\nExpect: 100-continue\r\n\r\n';
    const begin = /^HTTP\/1\.1 100 Continue\r\n\r\n/;

    const [broken, missing] = await Promise.all([
      exchange(port, [`${cancel}Transfer-Encoding: chunked\r\n${ready}`, 'none\r\n'], '100 '),
      exchange(port, [`${cancel}Content-Length: 9\r\n${ready}`]),
    ]);

    expectSessionProblem(broken.replace(begin, ''), 400);
    expectSessionProblem(missing.replace(begin, ''), 408);
  });
});

const post = 'POST /svc/v1/session HTTP/1.1\r\nHost: localhost\r\n';

function expectSessionProblem(received: string, status: number): void {
  const [head = '', body = ''] = received.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head.toLowerCase()).toContain('content-type: application/problem+json; charset=utf-8');
  expect(head.toLowerCase()).not.toContain('access-control-');
  const problem = JSON.parse(body);
  expect(problem).toMatchObject({ status, error: problem.detail, ok: false });
}
