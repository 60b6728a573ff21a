import { describe, expect, it } from 'vitest';
import { type EngineAddress, parseEngineUrl } from '../../../../src/lib/redis/engine-url.ts';

/** Address with the defaults of a URL that names only a host. */
const toAddress = (changes: Partial<EngineAddress>): EngineAddress => ({
  kind: 'single',
  isTls: false,
  nodes: [{ host: 'localhost', port: 6379 }],
  username: undefined,
  password: undefined,
  database: 0,
  primary: '',
  ...changes,
});

describe('the URL of the shared engine', () => {
  it.each<readonly [string, Partial<EngineAddress>]>([
    ['redis://localhost', {}],
    ['redis://localhost/', {}],
    ['redis://localhost:6380/3', { nodes: [{ host: 'localhost', port: 6380 }], database: 3 }],
    [
      'rediss://cache.example.org',
      { isTls: true, nodes: [{ host: 'cache.example.org', port: 6379 }] },
    ],
    ['redis://[::1]:6380', { nodes: [{ host: '::1', port: 6380 }] }],
    ['redis://10.0.0.5', { nodes: [{ host: '10.0.0.5', port: 6379 }] }],
    ['redis://ada:p%40ss@localhost', { username: 'ada', password: 'p@ss' }],
    ['redis://:a:b@localhost', { password: 'a:b' }],
    ['redis://ada@localhost', { username: 'ada' }],
    ['redis://:@localhost', {}],
    [
      'redis+sentinel://:secret@a,b:26380/main',
      {
        kind: 'sentinel',
        password: 'secret',
        primary: 'main',
        nodes: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 26_380 },
        ],
      },
    ],
    [
      'redis+sentinel://a/main/2',
      { kind: 'sentinel', primary: 'main', database: 2, nodes: [{ host: 'a', port: 26_379 }] },
    ],
    [
      'redis+cluster://a,[::2]:7000,c',
      {
        kind: 'cluster',
        nodes: [
          { host: 'a', port: 6379 },
          { host: '::2', port: 7000 },
          { host: 'c', port: 6379 },
        ],
      },
    ],
    ['redis+cluster://localhost/0', { kind: 'cluster' }],
  ])('%s is parsed', (url, changes) => {
    expect(parseEngineUrl(url)).toEqual(toAddress(changes));
  });

  it.each([
    ['nothing', ''],
    ['no scheme', 'localhost:6379'],
    ['another scheme', 'http://localhost'],
    ['no host', 'redis://'],
    ['only credentials', 'redis://:secret@'],
    ['two hosts of a single server', 'redis://a,b'],
    ['an empty host in a list', 'redis+cluster://a,,b'],
    ['a port that is too large', 'redis://localhost:65536'],
    ['a database that is no number', 'redis://localhost/main'],
    ['a database in a cluster', 'redis+cluster://localhost/1'],
    ['a sentinel without the name of a primary', 'redis+sentinel://localhost'],
    ['credentials with an invalid escape', 'redis://:%zz@localhost'],
    ['a query', 'redis://localhost?db=1'],
    ['a fragment', 'redis://localhost#1'],
    ['spaces', ' redis://localhost'],
  ])('%s is refused', (_, url) => {
    expect(parseEngineUrl(url)).toBeNull();
  });
});
