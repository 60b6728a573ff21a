import { gzipSync } from 'node:zlib';

/** Member of a tar file. */
export interface TarMember {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** Default: `0`, a regular file. */
  readonly type?: string;
}

/** Returns a tar file in ustar format, with a pax header before names that are too long. */
export function writeTar(members: readonly TarMember[]): Buffer {
  return Buffer.concat([...members.flatMap(writeMember), Buffer.alloc(1024)]);
}

/** Returns a tar file compressed with gzip. */
export function writeTarGz(members: readonly TarMember[]): Buffer {
  return gzipSync(writeTar(members));
}

function writeMember({ name, content, type = '0' }: TarMember): readonly Buffer[] {
  const bytes = Buffer.from(content as string); // copies both strings and bytes
  const isLong = Buffer.byteLength(name) > 100;
  const pax = isLong ? writeMember({ name: 'pax', content: toPax('path', name), type: 'x' }) : [];
  const padding = Buffer.alloc((512 - (bytes.length % 512)) % 512);
  return [...pax, toHeader(isLong ? 'long' : name, bytes.length, type), bytes, padding];
}

function toPax(name: string, value: string): string {
  const rest = ` ${name}=${value}\n`;
  const length = Buffer.byteLength(rest);
  const digits = String(length + String(length).length).length;
  return `${length + digits}${rest}`;
}

function toHeader(name: string, size: number, type: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, 100);
  header.write('0000444\0', 100);
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  header.write(`${(1_700_000_000).toString(8).padStart(11, '0')}\0`, 136);
  header.write('        ', 148);
  header.write(type, 156);
  header.write('ustar\0', 257);
  header.write('00', 263);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
