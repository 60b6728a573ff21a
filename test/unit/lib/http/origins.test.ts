import { describe, expect, it } from 'vitest';
import { createHostCheck, createOrigins } from '../../../../src/lib/http/origins.ts';

const base = 'https://perch.example.org/read';

describe('the origin of a page', () => {
  const origins = createOrigins(base, ['https://app.example']);

  it.each([
    'https://perch.example.org',
    'https://app.example',
    'http://localhost',
    'http://localhost:5173',
    'https://127.0.0.1:8443',
    'http://[::1]:3000',
  ])('%s is allowed', (origin) => {
    expect(origins.faultOf({ origin })).toBeNull();
    expect(origins.allowed({ origin })).toBe(origin);
  });

  it.each([
    'null',
    '',
    'http://perch.example.org',
    'https://perch.example.org:8443',
    'https://perch.example.org.evil.example',
    'https://evil.example',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://evil.example/http://localhost',
    'http://user@localhost',
    'http://localhost#.evil.example',
    'file://localhost',
    'https://app.example:444',
  ])('%j is refused', (origin) => {
    expect(origins.faultOf({ origin })?.code).toBe('origin_not_allowed');
    expect(origins.allowed({ origin })).toBeUndefined();
  });

  it('is quoted in the problem, up to a maximum length', () => {
    const problem = origins.faultOf({ origin: `https://${'a'.repeat(9000)}.example` });

    expect(problem?.message).toMatch(/^The request comes from the web origin "https:\/\/a+"…,/);
    expect(problem?.message.length).toBeLessThan(200);
  });

  it('may be any if `*` is listed', () => {
    const any = createOrigins(base, ['*']);

    expect(any.faultOf({ origin: 'https://evil.example' })).toBeNull();
    expect(any.faultOf({ 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' })).toBeNull();
    expect(any.allowed({ origin: 'https://evil.example' })).toBe('*');
  });

  it('may be absent, for programs', () => {
    expect(origins.faultOf({})).toBeNull();
    expect(origins.allowed({})).toBeUndefined();
  });

  // As Chrome, Firefox and Safari send them (https://www.w3.org/TR/fetch-metadata/).
  it.each([
    ['a typed address', 'none', 'document', true],
    ['a link on the same page', 'same-origin', 'document', true],
    ['a link on a page of another site', 'cross-site', 'document', true],
    ['a script of the page itself', 'same-origin', 'script', true],
    ['a picture in a page of another site', 'cross-site', 'image', false],
    ['a frame in a page of another site', 'cross-site', 'iframe', false],
    ['a `fetch` without CORS of another site', 'cross-site', 'empty', false],
  ])('is recognized without the header Origin for %s', (_, site, dest, isAllowed) => {
    const headers = { 'sec-fetch-site': site, 'sec-fetch-dest': dest };

    expect(origins.faultOf(headers) === null).toBe(isAllowed);
  });
});

describe('the host of a request', () => {
  it.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost'])(
    'to a server on %s must be loopback or the base URL',
    (listensOn) => {
      const check = createHostCheck(base, listensOn);

      for (const host of ['localhost:8080', '127.0.0.1', '[::1]:8080', 'perch.example.org']) {
        expect([host, check(host)]).toEqual([host, null]);
      }
      const foreign = ['evil.example', 'localhost.evil.example', '10.0.0.1', '[fe80::1]', 'a b'];
      for (const host of foreign) expect(check(host)?.code).toBe('origin_not_allowed');
    },
  );

  it.each(['0.0.0.0', '::', '192.168.1.5', 'perch.lan'])(
    'to a server on %s may be any',
    (listensOn) => {
      expect(createHostCheck(base, listensOn)('evil.example')).toBeNull();
    },
  );

  it.each([undefined, ''])('may be absent: %j', (host) => {
    expect(createHostCheck(base, '127.0.0.1')(host)).toBeNull();
  });
});
