import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/engine-server.ts';
import { answerText, hang } from '../support/fake-upstream.ts';
import { listen, upstream } from '../support/listen.ts';
import { runHere } from '../support/run-here.ts';
import { spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

const health = (args: readonly string[], env: Record<string, string> = {}) =>
  runHere(['health', ...args], env);

const portOf = (url: string) => new URL(url).port;

describe('perch health', () => {
  it.each([
    ['PORT', (port: string) => [[], { PORT: port }] as const],
    ['HOST', (port: string) => [[], { PORT: port, HOST: '0.0.0.0' }] as const],
    ['--port', (port: string) => [['--port', port], { PORT: '1' }] as const],
    ['--config', (port: string) => [['--config', save(`PORT=${port}`)], {}] as const],
    ['PERCH_CONFIG', (port: string) => [[], { PERCH_CONFIG: save(`PORT=${port}`) }] as const],
  ])('exits with 0 if the server at %s is ready', async (_, toCall) => {
    const { port } = await listen();
    const [args, env] = toCall(String(port));

    expect(await health(args, env)).toMatchObject({ code: 0, stdout: 'The server is ready.\n' });
  });

  it('runs as a process', async () => {
    const { port } = await listen();

    const ended = await spawnPerch(['health'], { PORT: String(port) }).ended;

    expect(ended).toMatchObject({ code: 0, stdout: 'The server is ready.\n', stderr: '' });
  });

  it('exits with 1 if the server is shutting down', async () => {
    const { app, port } = await listen();
    app.startDraining();

    const ended = await health([], { PORT: String(port) });

    expect(ended).toMatchObject({ code: 1, stderr: 'perch: The server is shutting down.\n' });
  });

  it('exits with 1 if no server listens', async () => {
    const port = String(await freePort());

    const { code, stderr } = await health([], { PORT: port });

    expect(code).toBe(1);
    expect(stderr).toContain(
      `The server at http://127.0.0.1:${port} cannot be reached (ECONNREFUSED).`,
    );
  });

  it.each([
    ['another server', { type: 'text/plain', text: 'hello' }],
    ['a page that quotes Perch', { type: 'text/html', text: 'a {"status":"ready"}' }],
    ['a server without an end', { type: 'text/plain', text: 'a'.repeat(1_000_000) }],
  ])('exits with 1 if the port belongs to %s', async (_, body) => {
    const { url } = await upstream((_request, response) => answerText(response, body));

    const { code, stderr } = await health([], { PORT: portOf(url) });

    expect(code).toBe(1);
    expect(stderr).toContain('answered /health/ready with status 200, but not like a Perch server');
  });

  it('exits with 1 if the server does not answer in time', async () => {
    const { url } = await upstream(hang);

    const { code, stderr } = await health([], { PORT: portOf(url) });

    expect(code).toBe(1);
    expect(stderr).toContain('did not answer within 4 seconds');
  });

  it('exits with 1 if the program at the port does not use HTTP', async () => {
    const server = createServer((socket) => socket.end('220 mail.example.org ESMTP\r\n'));
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;

    const { code, stderr } = await health([], { PORT: String(port) });

    expect(code).toBe(1);
    expect(stderr).toContain('cannot be reached (HPE_');
  });

  it.each(['x', '0', '99999x'])('exits with 1 if PORT is %s', async (port) => {
    const { code, stderr } = await health([], { PORT: port });

    expect(code).toBe(1);
    expect(stderr).toContain(`PORT is "${port}". Set them, or the options --host and --port`);
  });

  it('exits with 1 if the settings file cannot be read', async () => {
    const { code, stderr } = await health(['--config', '/nowhere/perch.env']);

    expect(code).toBe(1);
    expect(stderr).toContain('--config is "/nowhere/perch.env", but this file does not exist.');
  });
});

function save(text: string): string {
  const path = `${temporaryFolder()}/perch.env`;
  writeFileSync(path, text);
  return path;
}
