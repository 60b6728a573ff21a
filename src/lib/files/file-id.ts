import { createHash } from 'node:crypto';

const maxLength = 80;

/** Returns a file name, distinct without case: UTF-8 bytes other than `a-z0-9_-` become `=xx`. */
export function toFileId(id: string): string {
  const bytes = Buffer.from(id).toString('latin1');
  const safe = bytes.replace(/[^a-z0-9_-]/g, (byte) => {
    return `=${byte.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  if (safe.length <= maxLength) return safe;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 16);
  return `${safe.slice(0, 60)}=${hash}`;
}
