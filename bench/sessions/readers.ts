/**
 * Script that runs many readers of one event stream in a child process. It starts on the message
 * `begin`, reports progress with `ReaderMessage`s, and fails if the readers receive different text.
 */
import { connect, type Socket } from 'node:net';

/** Options of the readers. They are the first command-line argument of this script, as JSON. */
export interface Reading {
  readonly port: number;
  readonly path: string;
  readonly readers: number;
  /** Number of answers to read. */
  readonly turns: number;
}

/**
 * Message from this child process to its parent: `ready` (the parent can send `begin`), `open` (all responses have
 * begun), `done` (all answers were read), or `read` with the received `text`.
 */
export interface ReaderMessage {
  readonly kind: 'ready' | 'open' | 'done' | 'read';
  readonly text?: string;
}

/** Text that marks the end of an answer in the stream. */
const mark = Buffer.from('"type":"session.waiting"');

const reading: Reading = JSON.parse(process.argv[2] ?? '{}');
const send = (message: ReaderMessage) => process.send?.(message);

process.once('message', async () => {
  const opened: Promise<unknown>[] = [];
  const read: Promise<Buffer>[] = [];
  for (let reader = 0; reader < reading.readers; reader += 1) {
    const { whenOpen, whenDone } = readTurns(reading);
    opened.push(whenOpen);
    read.push(whenDone);
  }
  await Promise.all(opened);
  send({ kind: 'open' });
  const bodies = await Promise.all(read);
  send({ kind: 'done' });
  const [text = '', ...others] = bodies.map(toText);
  if (others.some((other) => other !== text))
    throw new Error('The readers received different lines.');
  process.send?.({ kind: 'read', text } satisfies ReaderMessage, () => process.disconnect());
});
send({ kind: 'ready' });

function readTurns({ port, path, turns }: Reading) {
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
  const whenOpen = new Promise((resolve) => socket.once('data', resolve));
  return { whenOpen, whenDone: collect(socket, turns) };
}

function collect(socket: Socket, turns: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let seen = 0;
    let before: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      const joint = Buffer.concat([before, chunk.subarray(0, mark.length - 1)]);
      const wasAll = seen === turns;
      seen += countMarks(chunk) + countMarks(joint);
      before = chunk.subarray(-(mark.length - 1));
      // The line with the last mark ends with a line feed.
      const end = wasAll ? 0 : Math.max(0, chunk.lastIndexOf(mark));
      if (seen < turns || !chunk.includes(10, end)) return;
      resolve(Buffer.concat(chunks));
      socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`the stream ended after ${seen} turns`)));
  });
}

function countMarks(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) {
    count += 1;
  }
  return count;
}

/** Decodes a response with chunked transfer coding (RFC 9112 §7.1), up to the last complete line. */
function toText(response: Buffer): string {
  const parts: Buffer[] = [];
  let at = response.indexOf('\r\n\r\n') + 4;
  while (at < response.length) {
    const end = response.indexOf('\r\n', at);
    if (end === -1) break;
    const length = Number.parseInt(response.toString('latin1', at, end), 16);
    parts.push(response.subarray(end + 2, end + 2 + length));
    at = end + 4 + length;
  }
  // Spaces before a line are heartbeats.
  const text = Buffer.concat(parts).toString().replaceAll(/^ +/gm, '');
  return text.slice(0, text.lastIndexOf('\n') + 1);
}
