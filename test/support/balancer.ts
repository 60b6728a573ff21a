import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Load balancer without stickiness: each request goes to a random one of the servers. */
export interface Balancer {
  readonly base: string;
  close(): void;
}

/** Starts a balancer on a free port of the loopback interface. `bases` are the URLs of the servers. */
export async function startBalancer(bases: readonly string[]): Promise<Balancer> {
  const server = createServer((request, response) => {
    const base = bases[Math.floor(Math.random() * bases.length)] ?? '';
    const { method, headers, url = '' } = request;
    const call = httpRequest(base + url, { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      response.flushHeaders();
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    call.on('error', () => response.destroy());
    response.on('close', () => call.destroy());
    request.pipe(call);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    base: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
