import { toFileCid } from './car-file.ts';

/** The accounts of repositories in tests. */
export const dids = {
  ada: 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa',
  ben: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb',
} as const;

const letters = '234567abcdefghijklmnopqrstuvwxyz';

/** Gives the record key that a client makes of a time. */
export function toTid(ms: number, clockId = 0): string {
  let value = ((BigInt(ms) * 1000n) << 10n) | BigInt(clockId);
  let key = '';
  for (let index = 0; index < 13; index++) {
    key = `${letters[Number(value % 32n)]}${key}`;
    value /= 32n;
  }
  return key;
}

/** Gives a post's record; `more` adds to it or replaces what it has. */
export function toPostRecord(
  text: string,
  createdAt: string,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return { $type: 'app.bsky.feed.post', text, createdAt, langs: ['en'], ...more };
}

/** Gives what a record says of a file that it has. */
export function toBlob(content: string, mimeType = 'image/jpeg') {
  return { $type: 'blob', ref: toFileCid(content), mimeType, size: content.length };
}
