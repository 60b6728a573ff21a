import { connect, type Socket } from 'node:net';
import { median } from '../interleave.ts';
import { residentMiB } from '../processes.ts';
import { createSessionClient } from './client.ts';
import { readTogether } from './reader-process.ts';
import { rounds, size, startScripted, withFolder, withTargets } from './servers.ts';

const goal = 1.2;

const readers = Math.ceil(size / 20);

/**
 * Number of answers. All answers together exceed the buffers of a connection, so the server cannot
 * send them to a reader that reads nothing.
 */
const turns = 16;
const message = '1 pieces of 250000';

const sampleMs = 20;

/**
 * Measurements of one run, in which clients read the event stream of one session. One client, which is connected
 * before the others, either reads normally or stalls (reads nothing).
 */
interface Taken {
  /** Milliseconds from the first question until all clients, except the one that may stall, have read all answers. */
  readonly ms: number;
  /** Peak memory of the server in MiB. */
  readonly mostMiB: number;
}

/**
 * Measures how much one stalled reader (which reads nothing) slows down the other readers of a
 * session and increases the server's memory. Returns the lines of a Markdown section.
 */
export async function benchStalled(): Promise<string[]> {
  const pairs: (readonly [Taken, Taken])[] = [];
  for (let round = 0; round < rounds; round += 1) {
    pairs.push([
      await withFolder((folder) => follow(folder, 'reads')),
      await withFolder((folder) => follow(folder, 'stalls')),
    ]);
  }
  const row = (name: string, pick: (taken: Taken) => number) => {
    const of = (at: 0 | 1) => median(pairs.map((pair) => pick(pair[at]))).toFixed(0);
    const ratio = median(pairs.map(([all, but]) => pick(but) / pick(all)));
    return `| ${name} | ${of(0)} | ${of(1)} | ${ratio.toFixed(2)} |`;
  };
  return [
    `### ${readers} readers, one of which takes nothing`,
    '',
    `They follow ${turns} answers of 250,000 characters; each round starts the server anew. Goal: at most ${goal.toFixed(1)} times`,
    'the memory.',
    '',
    '| | all read | one takes nothing | ratio |',
    '| --- | --- | --- | --- |',
    row('ms until the others have all', ({ ms }) => ms),
    row('resident memory at most, MiB', ({ mostMiB }) => mostMiB),
    '',
  ];
}

async function follow(folder: string, last: 'reads' | 'stalls'): Promise<Taken> {
  const target = await startScripted({ folder });
  return withTargets([target], async () => {
    const client = createSessionClient(target);
    const session = await client.start('1 pieces of 64');
    const before = (await client.read(session)).split('\n').length - 1;
    const path = `/svc/v1/session/${session.id}/stream?follow=true&startIndex=${before}`;
    const port = Number(new URL(target.url).port);
    const other = await openLast(port, path, last);
    const memory = watch(target.pid);
    const { ms } = await readTogether({ port, path, readers: readers - 1, turns }, () =>
      Promise.all(Array.from({ length: turns }, () => client.say(session, message))),
    );
    other.destroy();
    client.close();
    return { ms, mostMiB: memory.stop() };
  });
}

/**
 * Opens an event stream, and waits for the response headers. If `does` is `stalls`, the rest of the
 * response is not read.
 */
function openLast(port: number, path: string, does: 'reads' | 'stalls'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
    socket.once('data', () => {
      if (does === 'stalls') socket.pause();
      else socket.resume();
      resolve(socket);
    });
    socket.on('error', reject);
  });
}

function watch(pid: number) {
  let mostMiB = residentMiB(pid);
  const timer = setInterval(() => {
    mostMiB = Math.max(mostMiB, residentMiB(pid));
  }, sampleMs);
  return {
    stop: () => {
      clearInterval(timer);
      return mostMiB;
    },
  };
}
