import { bitsBelowTime, lastCountedId, snowflakeEpochMs } from '../../../platforms/x.ts';

/** X's cursor: base64url of the binary Thrift struct `{7: {1: i64, 2: string, 3: i32}}`. */
export interface TimelineCursor {
  /** Snowflake id that encodes the time at which the cursor was created. */
  readonly issuedId: bigint;
  /** Id at which the page starts. If `direction` is `bottom`, the page has only lower ids. */
  readonly sortId: bigint;
  readonly direction: 'top' | 'bottom';
}

// Each field starts with its Thrift type and number. Two stop bytes end the structs.
const structField7 = '0c0007';
const i64Field1 = '0a0001';
const stringField2 = '0b0002';
const i32Field3 = '080003';
const stops = '0000';

const form = new RegExp(
  `^${structField7}${i64Field1}([0-9a-f]{16})${stringField2}0000(00[0-9a-f]{2})((?:3[0-9]){1,20})` +
    `${i32Field3}0000000([12])${stops}$`,
);

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

const toHex = (value: number | bigint, digits: number): string =>
  value.toString(16).padStart(digits, '0');

/** Returns the lowest snowflake id at `ms`; `lastCountedId` before November 2010. */
export function leastIdAt(ms: number): bigint {
  const id = BigInt(Math.max(0, Math.trunc(ms) - snowflakeEpochMs)) << bitsBelowTime;
  return id > lastCountedId ? id : lastCountedId;
}

/** Creates a cursor for posts before `ms`, as X would have created it at `nowMs` (Unix ms). */
export function cursorBefore(ms: number, nowMs: number): string {
  const sortId = leastIdAt(ms);
  return writeTimelineCursor({ issuedId: leastIdAt(nowMs), sortId, direction: 'bottom' });
}
