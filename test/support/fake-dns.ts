import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

/** Records of a name: IPv4 addresses, or an alias and its addresses. */
export interface FakeRecord {
  readonly alias?: string;
  readonly addresses: readonly string[];
}

const types = { a: 1, cname: 5 } as const;

/** Starts a DNS server on loopback for one test and returns its `address:port`. */
export async function startFakeDns(names: Readonly<Record<string, FakeRecord>>): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => socket.send(answer(query, names), from.port, from.address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

/** Answers one question (RFC 1035 §4.1) with A and CNAME records. */
function answer(query: Buffer, names: Readonly<Record<string, FakeRecord>>): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const question = query.subarray(12, end);
  const record = names[readName(question)];
  const wantsV4 = question.readUInt16BE(question.length - 4) === types.a;
  const asked = Buffer.of(0xc0, 12);
  const owner = record?.alias === undefined ? asked : writeName(record.alias);
  const answers = [
    ...(record?.alias === undefined ? [] : [writeRecord(asked, types.cname, owner)]),
    ...(wantsV4 ? (record?.addresses ?? []) : []).map((address) =>
      writeRecord(owner, types.a, Buffer.from(address.split('.').map(Number))),
    ),
  ];
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(record === undefined ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(answers.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, question, ...answers]);
}

function readName(question: Buffer): string {
  const labels: string[] = [];
  for (let at = 0; question[at] !== 0; at += (question[at] ?? 0) + 1) {
    labels.push(question.toString('latin1', at + 1, at + 1 + (question[at] ?? 0)));
  }
  return labels.join('.').toLowerCase();
}

function writeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`\0${label}`));
  for (const label of labels) label[0] = label.length - 1;
  return Buffer.concat([...labels, Buffer.of(0)]);
}

function writeRecord(owner: Buffer, type: number, body: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt16BE(body.length, 8);
  return Buffer.concat([owner, head, body]);
}
