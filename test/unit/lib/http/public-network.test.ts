import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  connectByTls,
  createResolve,
  type NameResolver,
} from '../../../../src/lib/http/public-network.ts';
import { startFakeDns } from '../../../support/fake-dns.ts';
import { createSelfSigned } from '../../../support/self-signed.ts';

const host = 'social.example.com';
const never = new AbortController().signal;

describe('createResolve', () => {
  const answering = (v4: readonly string[] | Error, v6: readonly string[] | Error) => {
    const give = async (answer: readonly string[] | Error) => {
      if (answer instanceof Error) throw answer;
      return [...answer];
    };
    // Only the forms without options are asked for.
    const resolver = { resolve4: () => give(v4), resolve6: () => give(v6), cancel: () => {} };
    return createResolve(() => resolver as unknown as NameResolver);
  };
  const none = Object.assign(new Error('queryAaaa ENODATA'), { code: 'ENODATA' });

  it.each([
    ['one of each family first', ['a', 'b', 'c'], ['x', 'y'], ['a', 'x', 'b', 'c', 'y']],
    ['those of IPv4 where there is no other', ['a', 'b'], none, ['a', 'b']],
    ['those of IPv6 where there is no other', none, ['x', 'y'], ['x', 'y']],
    ['none where there is none', [], [], []],
  ])('returns %s', async (_, v4, v6, expected) => {
    expect(await answering(v4, v6)(host, never)).toEqual(expected);
  });

  it('fails if neither family can be looked up', async () => {
    await expect(answering(none, none)(host, never)).rejects.toBe(none);
  });

  it('sends no query if it is already cancelled', async () => {
    const opened = vi.fn();

    await expect(createResolve(opened)(host, AbortSignal.abort('over'))).rejects.toBe('over');

    expect(opened).not.toHaveBeenCalled();
  });

  it('queries a name server, and follows an alias to its addresses', async () => {
    const server = await startFakeDns({
      [host]: { addresses: ['93.184.216.34', '1.1.1.1'] },
      'alias.example.com': { alias: 'db.internal', addresses: ['10.0.0.1'] },
    });
    const resolve = createResolve(() => {
      const resolver = new Resolver();
      resolver.setServers([server]);
      return resolver;
    });

    expect((await resolve(host, never)).toSorted()).toEqual(['1.1.1.1', '93.184.216.34']);
    expect(await resolve('alias.example.com', never)).toEqual(['10.0.0.1']);
    await expect(resolve('no.example.com', never)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('stops waiting for an unresponsive name server', async () => {
    const silent = createSocket('udp4');
    silent.bind(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    const resolver = new Resolver({ timeout: 60_000, tries: 1 });
    resolver.setServers([`127.0.0.1:${silent.address().port}`]);
    const giveUp = new AbortController();
    silent.once('message', () => giveUp.abort());

    const looking = createResolve(() => resolver)(host, giveUp.signal);

    await expect(looking).rejects.toMatchObject({ code: 'ECANCELLED' });
  });
});

describe('connectByTls', () => {
  async function listen(server: Server): Promise<number> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    // A server that listens on TCP has an address of this form (node:net, server.address()).
    return (server.address() as AddressInfo).port;
  }

  it('connects to the address with the host name', async () => {
    const requests: string[] = [];
    const server = createTlsServer({
      SNICallback: (name, done) => {
        requests.push(name);
        done(new Error('No certificate.'));
      },
    });
    const port = await listen(server);

    await expect(
      connectByTls({ address: '127.0.0.1', port, host, signal: never }),
    ).rejects.toThrow();

    expect(requests).toEqual([host]);
  });

  it('rejects an untrusted certificate, regardless of the environment', async () => {
    const seen: string[] = [];
    const server = createTlsServer(createSelfSigned(host), (socket) => {
      socket.on('data', (chunk) => seen.push(String(chunk)));
    });
    server.on('tlsClientError', () => {});
    const port = await listen(server);
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');

    const connecting = connectByTls({ address: '127.0.0.1', port, host, signal: never });

    await expect(connecting).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(seen).toEqual([]);
  });

  it('closes a connection to an unresponsive server when it is cancelled', async () => {
    const giveUp = new AbortController();
    const left = vi.fn();
    const server = createServer((socket) => {
      socket.once('data', () => giveUp.abort(new Error('Too late.')));
      socket.once('close', left);
      socket.on('error', () => {}); // it is cut off
    });
    const port = await listen(server);

    const connecting = connectByTls({ address: '127.0.0.1', port, host, signal: giveUp.signal });

    await expect(connecting).rejects.toThrow('Too late.');
    await expect.poll(() => left.mock.calls).toHaveLength(1);
  });

  it('opens no connection if it is already cancelled', async () => {
    const connections = vi.fn();
    const port = await listen(createServer(connections));
    const signal = AbortSignal.abort(new Error('Over.'));

    await expect(connectByTls({ address: '127.0.0.1', port, host, signal })).rejects.toThrow(
      'Over.',
    );

    expect(connections).not.toHaveBeenCalled();
  });
});
