// Minimal Fastify server that streams the lines of a file: to each reader as fast as it reads (`/recorded`), to all
// readers in turn after a POST (`/live`), or with the connection kept open at the end (`/idle`).
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Fastify from 'fastify';

const lines = readFileSync(process.argv[2], 'utf8')
  .split('\n')
  .slice(0, -1)
  .map((line) => Buffer.from(`${line}\n`));
const app = Fastify();
const readers = new Set();

const open = (reply) => {
  const { raw } = reply.hijack();
  raw.writeHead(200, { 'content-type': 'application/x-ndjson; charset=utf-8' });
  raw.flushHeaders();
  return raw;
};

const writeAll = async (raw) => {
  for (const line of lines) if (!raw.write(line)) await once(raw, 'drain');
};

app.get('/svc/v1/health', async () => 'ok');

app.get('/recorded', async (_request, reply) => {
  const raw = open(reply);
  await writeAll(raw);
  raw.end();
});

app.get('/live', async (_request, reply) => {
  const raw = open(reply);
  readers.add(raw);
  raw.on('close', () => readers.delete(raw));
});

app.post('/live', async () => {
  for (const line of lines) {
    const full = [...readers].filter((raw) => !raw.write(line));
    await Promise.all(full.map((raw) => once(raw, 'drain')));
    await nextTurn();
  }
  return 'ok';
});

app.get('/idle', async (_request, reply) => {
  const raw = open(reply);
  await writeAll(raw);
  readers.add(raw);
  raw.on('close', () => readers.delete(raw));
});

// A heartbeat after ten seconds without output, as Perch sends it.
setInterval(() => {
  for (const raw of readers) raw.write(' ');
}, 10_000).unref();

process.once('SIGTERM', () => process.exit());
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
