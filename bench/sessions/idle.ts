import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { residentMiB, type Target } from '../processes.ts';
import { type ClientSession, createSessionClient } from './client.ts';
import { size, startBareStream, startPerch, withFolder, withTargets } from './servers.ts';

const goalKiB = 40;

const streams = size * 2;

/** Number of open streams at the first measurement. */
const first = streams / 10;

/** Number of streams or sessions that are opened concurrently. */
const atOnce = 50;

/** Milliseconds to wait before a measurement. Longer than the interval of the server's heartbeats. */
const settleMs = 15_000;

/** Measures the memory of open streams without new events. Returns the lines of a Markdown section. */
export async function benchIdle(): Promise<string[]> {
  demandFiles(streams + 200);
  const { own, bare } = await withFolder(measure);
  return [
    `### ${streams.toLocaleString('en-US')} idle streams`,
    '',
    `Each follows a session of its own (\`follow=true\`), has read its answer, and stays for ${settleMs / 1000} seconds,`,
    'so that it gets a space against silence too. The server was started anew after the sessions were',
    `answered, and ${first} streams are open at the first look, so that what a process takes once does not count. The`,
    'bare Fastify stream sends the same lines and spaces. Resident memory of the process.',
    `Goal: less than ${goalKiB} KiB for a stream.`,
    '',
    '| server | before, MiB | after, MiB | KiB for a stream | ratio |',
    '| --- | --- | --- | --- | --- |',
    toRow('perch', own, own),
    toRow('bare Fastify', bare, own),
    '',
  ];
}

interface Held {
  readonly beforeMiB: number;
  readonly afterMiB: number;
}

async function measure(folder: string) {
  const { sessions, text } = await answerSessions(folder);
  const file = join(folder, 'lines.ndjson');
  writeFileSync(file, text);
  const own = await hold(await startPerch({ folder }), (at) => {
    const id = sessions[at % sessions.length]?.id ?? '';
    return `/svc/v1/session/${id}/stream?follow=true`;
  });
  const bare = await hold(await startBareStream(file, { folder }), () => '/idle');
  return { own, bare };
}

/**
 * Starts a number of sessions (`streams`) on a server that stores them in `folder`. Waits until each session has an
 * answer. Returns the sessions and the text of one event stream.
 */
async function answerSessions(folder: string) {
  const target = await startPerch({ folder, cores: 'any' });
  return withTargets([target], async () => {
    const client = createSessionClient(target);
    const sessions: ClientSession[] = [];
    let text = '';
    while (sessions.length < streams) {
      const started = await Promise.all(
        Array.from({ length: Math.min(atOnce, streams - sessions.length) }, async () => {
          const session = await client.start('How do I get a key?');
          text = await client.read(session);
          return session;
        }),
      );
      sessions.push(...started);
    }
    client.close();
    return { sessions, text };
  });
}

async function hold(target: Target, pathOf: (at: number) => string): Promise<Held> {
  return withTargets([target], async () => {
    const port = Number(new URL(target.url).port);
    const sockets: Socket[] = [];
    const openUpTo = async (count: number): Promise<void> => {
      while (sockets.length < count) {
        const more = Array.from({ length: Math.min(atOnce, count - sockets.length) }, (_, at) =>
          openAndWait(port, pathOf(sockets.length + at)),
        );
        sockets.push(...(await Promise.all(more)));
      }
      await sleep(settleMs);
    };
    await openUpTo(first);
    const beforeMiB = residentMiB(target.pid);
    await openUpTo(streams);
    const afterMiB = residentMiB(target.pid);
    const lost = sockets.filter(({ destroyed, readyState }) => destroyed || readyState !== 'open');
    if (lost.length > 0) throw new Error(`${lost.length} streams have ended early.`);
    for (const socket of sockets) socket.destroy();
    return { beforeMiB, afterMiB };
  });
}

/** Opens an event stream, and waits until the answer is complete. The returned socket stays open. */
function openAndWait(port: number, path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const look = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      if (!text.includes('"type":"session.waiting"')) return;
      socket.off('data', look).resume();
      resolve(socket);
    };
    socket.on('data', look);
    socket.on('error', reject);
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
  });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Checks that the process may open `count` files. @throws Error if the limit of open files is too low */
function demandFiles(count: number): void {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  const most = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1]);
  if (most < count) {
    throw new Error(`The limit of open files is ${most}. Run \`ulimit -n ${count}\` first.`);
  }
}

function toRow(name: string, of: Held, own: Held): string {
  const kibOf = ({ beforeMiB, afterMiB }: Held) =>
    ((afterMiB - beforeMiB) * 1024) / (streams - first);
  const cells = [
    name,
    of.beforeMiB.toFixed(0),
    of.afterMiB.toFixed(0),
    kibOf(of).toFixed(1),
    of === own ? '' : (kibOf(own) / kibOf(of)).toFixed(2),
  ];
  return `| ${cells.join(' | ')} |`;
}
