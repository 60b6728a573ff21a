import { connect, type Socket } from 'node:net';

/**
 * Many readers of one stream, in a process of their own, with so little work for each that the server is
 * the slower one. They say `ready`; told to begin, `open` when all have the head of the response; `done`
 * when all have read as many turns as they should; then what the first one read. All have to have read the
 * same.
 */

/** What readers are started with, as JSON in the first argument. */
export interface Reading {
  readonly port: number;
  readonly path: string;
  readonly readers: number;
  /** The turns to read. */
  readonly turns: number;
}

/** What they say, in this order. */
export interface Said {
  readonly kind: 'ready' | 'open' | 'done' | 'read';
  readonly text?: string;
}

/** The end of a turn. */
const mark = Buffer.from('"type":"session.waiting"');

const reading: Reading = JSON.parse(process.argv[2] ?? '{}');
const say = (said: Said) => process.send?.(said);

process.once('message', async () => {
  const opened: Promise<unknown>[] = [];
  const read: Promise<Buffer>[] = [];
  for (let reader = 0; reader < reading.readers; reader += 1) {
    const { whenOpen, whenDone } = readTurns(reading);
    opened.push(whenOpen);
    read.push(whenDone);
  }
  await Promise.all(opened);
  say({ kind: 'open' });
  const bodies = await Promise.all(read);
  say({ kind: 'done' });
  const [text = '', ...others] = bodies.map(toText);
  if (others.some((other) => other !== text)) throw new Error('readers have read different lines');
  process.send?.({ kind: 'read', text } satisfies Said, () => process.disconnect());
});
say({ kind: 'ready' });

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
      // The line that has the last mark ends with a line feed.
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

/** Takes a response apart that came in chunks (RFC 9112 §7.1); what comes after the last whole line is left out. */
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
  // White space before a line is a space against silence.
  const text = Buffer.concat(parts).toString().replaceAll(/^ +/gm, '');
  return text.slice(0, text.lastIndexOf('\n') + 1);
}
