/**
 * A cursor of an X timeline: URL-safe base64 of the Thrift struct `{7: {1: i64, 2: string, 3: i32}}` in
 * the binary protocol.
 */
export interface TimelineCursor {
  /** A snowflake of the moment that the cursor was given out. */
  readonly issuedId: bigint;
  /** The id of a post, or of a repost, by which the rows are sorted. `bottom` goes on below it. */
  readonly sortId: bigint;
  readonly direction: 'top' | 'bottom';
}

// Each field begins with its Thrift type and its number. Two stops end the structs.
const structField7 = '0c0007';
const i64Field1 = '0a0001';
const stringField2 = '0b0002';
const i32Field3 = '080003';
const stops = '0000';

const form = new RegExp(
  `^${structField7}${i64Field1}([0-9a-f]{16})${stringField2}0000(00[0-9a-f]{2})((?:3[0-9]){1,20})` +
    `${i32Field3}0000000([12])${stops}$`,
);

/** Parses a cursor of a timeline. Returns `null` for another form. */
export function readTimelineCursor(text: string): TimelineCursor | null {
  const [, issued, length, digits, direction] =
    form.exec(Buffer.from(text, 'base64url').toString('hex')) ?? [];
  if (issued === undefined || digits === undefined) return null;
  if (Number(`0x${length}`) * 2 !== digits.length) return null;
  return {
    issuedId: BigInt(`0x${issued}`),
    sortId: BigInt(Buffer.from(digits, 'hex').toString('latin1')),
    direction: direction === '1' ? 'top' : 'bottom',
  };
}

export function writeTimelineCursor({ issuedId, sortId, direction }: TimelineCursor): string {
  const digits = String(sortId);
  const fields = [
    structField7,
    `${i64Field1}${toHex(issuedId, 16)}`,
    `${stringField2}${toHex(digits.length, 8)}${Buffer.from(digits, 'latin1').toString('hex')}`,
    `${i32Field3}${toHex(direction === 'top' ? 1 : 2, 8)}`,
    stops,
  ];
  return Buffer.from(fields.join(''), 'hex').toString('base64url');
}

function toHex(value: number | bigint, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

const snowflakeEpochMs = 1_288_834_974_657;

const belowTime = 22n;

/** Ids up to this one were counted, until November 2010; later ones contain a time. */
const lastCountedId = 30_000_000_000n;

/** Returns the least id of a post from that moment on; for a moment without snowflakes, of all of them. */
export function leastIdAt(ms: number): bigint {
  const id = BigInt(Math.max(0, Math.trunc(ms) - snowflakeEpochMs)) << belowTime;
  return id > lastCountedId ? id : lastCountedId;
}

/** Returns when an id was given out, in milliseconds; `null` for one without a time in it. */
export function timeOfId(id: bigint): number | null {
  return id > lastCountedId ? Number(id >> belowTime) + snowflakeEpochMs : null;
}

/** Returns a cursor to the page that begins before a moment. The live service accepts it. */
export function cursorBefore(ms: number, nowMs: number): string {
  const sortId = leastIdAt(ms);
  return writeTimelineCursor({ issuedId: leastIdAt(nowMs), sortId, direction: 'bottom' });
}
