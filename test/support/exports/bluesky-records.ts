import { toFileCid } from './car-file.ts';

/** Accounts of the repositories in tests. */
export const dids = {
  ada: 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa',
  ben: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb',
} as const;

const letters = '234567abcdefghijklmnopqrstuvwxyz';

/** Returns the record key for a time. */
export function toTid(ms: number, clockId = 0): string {
  let value = ((BigInt(ms) * 1000n) << 10n) | BigInt(clockId);
  let key = '';
  for (let index = 0; index < 13; index++) {
    key = `${letters[Number(value % 32n)]}${key}`;
    value /= 32n;
  }
  return key;
}

/** Returns the record of a post. `more` adds or replaces fields. */
export function toPostRecord(
  text: string,
  createdAt: string,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return { $type: 'app.bsky.feed.post', text, createdAt, langs: ['en'], ...more };
}

/** Returns the blob reference for a file. */
export function toBlob(content: string, mimeType = 'image/jpeg') {
  return { $type: 'blob', ref: toFileCid(content), mimeType, size: content.length };
}
