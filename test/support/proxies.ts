import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, connect as openSocket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { save, toNginxFile } from './config-checkers.ts';
import { temporaryFolder } from './spawn-perch.ts';

/**
 * Starts nginx with a configuration, by default `deploy/nginx.conf`, in front of `upstreams` (`HOST:PORT`), which replace
 * the servers of the configuration in order. Returns the base URL of the proxy.
 */
export async function startNginx(
  upstreams: readonly string[],
  configuration = readFileSync('deploy/nginx.conf', 'utf8'),
): Promise<string> {
  const folder = temporaryFolder();
  const port = await findFreePort();
  const left = [...upstreams];
  const servers = configuration
    .replaceAll(/(?<=server )[\d.]+:8080/g, (address) => left.shift() ?? address)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
    .replace('listen 80;', `listen unix:${folder}/redirects.sock;`)
    .replaceAll(/listen \[::\].*;/g, '');
  const file = save('nginx.conf', toNginxFile(folder, servers));
  const args = ['-p', folder, '-e', 'stderr', '-c', file, '-g', 'daemon off;'];
  await start(spawn('nginx', args, { stdio: 'ignore' }), port);
  return `https://127.0.0.1:${port}`;
}

/**
 * Starts Caddy with a configuration, by default `deploy/Caddyfile`, in front of `upstreams` (`HOST:PORT`). Returns the
 * base URL of the proxy.
 */
export async function startCaddy(
  upstreams: readonly string[],
  configuration = readFileSync('deploy/Caddyfile', 'utf8'),
): Promise<string> {
  const port = await findFreePort();
  const base = `http://127.0.0.1:${port}`;
  const site = configuration
    .replace(/^:8080 /m, `${base} `)
    .replace('perch-1:8080 perch-2:8080', upstreams.join(' '));
  // The port for the administration of Caddy is fixed, so it is turned off.
  const file = save('Caddyfile', `{\n\tadmin off\n}\n${site}`);
  const args = ['run', '--adapter', 'caddyfile', '--config', file];
  const HOME = temporaryFolder();
  const PERCH_UPSTREAM = upstreams.join(' ');
  const env = { PATH: process.env.PATH, HOME, PERCH_BASE_URL: base, PERCH_UPSTREAM };
  await start(spawn('caddy', args, { env, stdio: 'ignore' }), port);
  return base;
}

/** Waits until a program accepts connections at a port. The program is stopped at the end of the test. */
async function start(child: ChildProcess, port: number): Promise<void> {
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill('SIGTERM'); // with SIGKILL, the workers of nginx would go on
    await ended;
  });
  let code: number | null | undefined;
  void ended.then((value) => {
    code = value;
  });
  while (!(await accepts(port))) {
    if (code !== undefined) throw new Error(`${child.spawnfile} exited with code ${code}.`);
    await sleep(20);
  }
}

function accepts(port: number): Promise<boolean> {
  const socket = openSocket(port, '127.0.0.1');
  return once(socket, 'connect')
    .then(() => true)
    .catch(() => false)
    .finally(() => socket.destroy());
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  server.close();
  await once(server, 'close');
  return port;
}
