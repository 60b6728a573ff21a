import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { Problem, quoteInput } from '../core/problem.ts';
import type { ListPosition } from '../fetching/lists/browse.ts';

export type CursorCodec = ReturnType<typeof createCursorCodec>;
export const maxCursor = 2048;
const macBytes = 16;

/** At least this many marks, or all if there are fewer, must have room beside the source's own cursor. */
const leastMarks = 8;
const name = z.string().nullable();
const count = z.number().int().nonnegative();

/** The place without its marks, as a tuple of JSON: small, and strict when it is read back. */
const place = z.tuple([name, name, count, count.positive(), count]);

/**
 * Creates the codec. A cursor is base64url of a truncated HMAC-SHA256 (RFC 2104 §5) and of a place in a list; the
 * signature covers the list, too.
 */
export function createCursorCodec(key: Buffer) {
  const sign = (listKey: string, body: Buffer): Buffer =>
    createHmac('sha256', key)
      .update(`perch cursor 1\n${listKey}\n`)
      .update(body)
      .digest()
      .subarray(0, macBytes);
  return {
    /** Returns a cursor of at most 2048 characters; `null` if the provider's own cursor is too long. */
    seal: (listKey: string, position: ListPosition): string | null => {
      const body = toBody(position);
      return body && Buffer.concat([sign(listKey, body), body]).toString('base64url');
    },
    /** @throws Problem `invalid_cursor` if the cursor was changed, or belongs to another list */
    open: (listKey: string, cursor: string): ListPosition => {
      const bytes = cursor.length <= maxCursor ? Buffer.from(cursor, 'base64url') : Buffer.alloc(0);
      const [mac, body] = [bytes.subarray(0, macBytes), bytes.subarray(macBytes)];
      // base64url has more than one text for some bytes; only the one that was sent counts.
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
      : `has the value ${quoteInput(cursor)}, which was changed, belongs to another list, query or option, or was made with another key`;
  return new Problem('invalid_cursor', { detail: `The parameter \`cursor\` ${fault}.` });
}

/** One byte with the number of marks, four for each mark, then JSON. */
function toBody(position: ListPosition): Buffer | null {
  const { provider, cursor, taken, page, fruitless, recent } = position;
  const json = Buffer.from(JSON.stringify([provider, cursor, taken, page, fruitless]));
  const room = Math.floor(maxCursor * 0.75) - macBytes - 1 - json.length;
  const count = Math.min(recent.length, Math.floor(room / 4));
  // Without any marks a walk in the middle of a page would not know where it is.
  if (room < 0 || count < Math.min(recent.length, leastMarks)) return null;
  const marks = Buffer.alloc(1 + 4 * count);
  marks.writeUInt8(count);
  const kept = recent.slice(recent.length - count);
  for (const [index, mark] of kept.entries()) marks.writeUInt32BE(mark, 1 + 4 * index);
  return Buffer.concat([marks, json]);
}

function fromBody(body: Buffer, cursor: string): ListPosition {
  const count = body.readUInt8();
  const recent = Array.from({ length: count }, (_, index) => body.readUInt32BE(1 + 4 * index));
  const json: unknown = JSON.parse(body.subarray(1 + 4 * count).toString());
  const read = place.safeParse(json);
  // Signed, but by a version of Perch that kept other things in it.
  if (!read.success) throw refuse(cursor);
  const [provider, own, taken, page, fruitless] = read.data;
  return { provider, cursor: own, taken, page, fruitless, recent };
}
