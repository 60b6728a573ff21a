import { createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import type { ListPosition } from '../fetching/lists/fetch-page.ts';
import { Problem, quoteInput } from '../lib/problem.ts';

export type CursorCodec = ReturnType<typeof createCursorCodec>;
export const maxCursor = 2048;
const macBytes = 16;

const minFingerprints = 8;
const name = z.string().nullable();
const count = z.number().int().nonnegative();

const positionTuple = z.tuple([name, name, count, count.positive(), count]);

/**
 * Creates a codec of signed cursors: base64url of a truncated HMAC-SHA256 (RFC 2104 §5) and a list
 * position. The HMAC includes `listKey`, so a cursor is not valid for another list.
 */
export function createCursorCodec(key: Buffer) {
  const sign = (listKey: string, body: Buffer): Buffer =>
    createHmac('sha256', key)
      .update(`perch cursor 1\n${listKey}\n`)
      .update(body)
      .digest()
      .subarray(0, macBytes);
  return {
    /** Returns a signed cursor; `null` if it would exceed 2048 characters. */
    seal: (listKey: string, position: ListPosition): string | null => {
      const body = toBody(position);
      return body && Buffer.concat([sign(listKey, body), body]).toString('base64url');
    },
    /** Verifies a cursor. @throws Problem `invalid_cursor` if changed or of another list */
    open: (listKey: string, cursor: string): ListPosition => {
      const bytes = cursor.length <= maxCursor ? Buffer.from(cursor, 'base64url') : Buffer.alloc(0);
      const [mac, body] = [bytes.subarray(0, macBytes), bytes.subarray(macBytes)];
      // Several base64url texts can decode to the same bytes; only the text that was sent is valid.
      const isWhole = body.length > 0 && bytes.toString('base64url') === cursor;
      if (!isWhole || !timingSafeEqual(mac, sign(listKey, body))) throw refuse(cursor);
      return fromBody(body, cursor);
    },
  };
}

function refuse(cursor: string): Problem {
  const fault =
    cursor === ''
      ? 'is empty'
      : `has the value ${quoteInput(cursor)}, which was changed, belongs to a list with another query or other options, or was signed with another key`;
  return new Problem('invalid_cursor', { detail: `The parameter \`cursor\` ${fault}.` });
}

function toBody(position: ListPosition): Buffer | null {
  const { provider, cursor, taken, page, fruitless, recent } = position;
  const json = Buffer.from(JSON.stringify([provider, cursor, taken, page, fruitless]));
  const room = Math.floor(maxCursor * 0.75) - macBytes - 1 - json.length;
  const count = Math.min(recent.length, Math.floor(room / 4));
  // Without fingerprints, the position within a page of the source could not be found again.
  if (room < 0 || count < Math.min(recent.length, minFingerprints)) return null;
  const fingerprints = Buffer.alloc(1 + 4 * count);
  fingerprints.writeUInt8(count);
  for (const [index, fingerprint] of recent.slice(recent.length - count).entries()) {
    fingerprints.writeUInt32BE(fingerprint, 1 + 4 * index);
  }
  return Buffer.concat([fingerprints, json]);
}

function fromBody(body: Buffer, cursor: string): ListPosition {
  const count = body.readUInt8();
  const recent = Array.from({ length: count }, (_, index) => body.readUInt32BE(1 + 4 * index));
  const json: unknown = JSON.parse(body.subarray(1 + 4 * count).toString());
  const parsed = positionTuple.safeParse(json);
  // The cursor was signed by a version of Perch with another format.
  if (!parsed.success) throw refuse(cursor);
  const [provider, own, taken, page, fruitless] = parsed.data;
  return { provider, cursor: own, taken, page, fruitless, recent };
}
