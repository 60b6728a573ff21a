import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { isPublicUrl } from '../../lib/http/public-host.ts';
import { parseUrl } from '../../lib/http/url.ts';
import { Problem } from '../../lib/problem.ts';

export interface PictureAddressOptions {
  /** Secret for signing cursors. The key for picture addresses is derived from it. */
  readonly secret: Buffer;
  /** URL of this server, without a slash at the end. */
  readonly baseUrl: string;
  readonly clock: Clock;
}

/** Content of a signed picture address that was verified and has not expired. */
export interface PictureAddress {
  readonly url: URL;
  readonly expiresMs: number;
}

/** Path prefix of all pictures and other media files on this server. */
export const mediaPath = '/media/';

const dayMs = 86_400_000;

/** Days for which an address stays the same, so that pages that contain it keep their ETags. */
const periodDays = 30;

const validDays = 90;

const maxUrlLength = 2000;

const version = 1;
const start = 'https://';
const macBytes = 16;
const expiryBytes = 2; // days since 1970
const headBytes = 1 + expiryBytes;

export type PictureAddresses = ReturnType<typeof createPictureAddresses>;

/**
 * Creates functions that sign and check picture addresses: base64url of the version (1 byte), the
 * day of expiry (2 bytes), the first 16 bytes of an HMAC-SHA256 (RFC 2104 §5), and the URL without
 * `https://`.
 */
export function createPictureAddresses(options: PictureAddressOptions) {
  const { secret, baseUrl, clock } = options;
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'perch picture addresses', 32));
  const macOf = (head: Buffer, url: Buffer) =>
    createHmac('sha256', key).update(head).update(url).digest().subarray(0, macBytes);
  const sign = (url: string): string => {
    const head = Buffer.alloc(headBytes, version);
    head.writeUInt16BE(expiryDay(clock.now()), 1);
    const rest = Buffer.from(url.slice(start.length));
    return Buffer.concat([head, macOf(head, rest), rest]).toString('base64url');
  };
  const base = parseUrl(baseUrl);
  return {
    /** Returns a picture's signed address; `null` if this server cannot fetch the picture. */
    toPictureUrl: (given: string) => {
      const url = parseUrl(given);
      if (url === null || url.href.length > maxUrlLength) return null;
      if (url.href.startsWith(`${base?.href.replace(/\/$/, '')}${mediaPath}`)) return url.href;
      if (!isPublicUrl(url) || url.origin === base?.origin) return null;
      url.hash = '';
      return `${baseUrl}${mediaPath}${sign(url.href)}`;
    },
    /** @throws Problem `invalid_picture_address` or `expired_picture_address` */
    parse: (signed: string) => {
      const bytes = Buffer.from(signed, 'base64url');
      // The decoder accepts several encodings of the same bytes. Only one of them is a valid
      // address.
      if (bytes.length <= headBytes + macBytes || bytes.toString('base64url') !== signed) {
        throw createInvalid();
      }
      const head = bytes.subarray(0, headBytes);
      const rest = bytes.subarray(headBytes + macBytes);
      const mac = bytes.subarray(headBytes, headBytes + macBytes);
      if (!timingSafeEqual(mac, macOf(head, rest)) || head[0] !== version) throw createInvalid();
      const url = parseUrl(`${start}${rest.toString()}`);
      if (url === null) throw createInvalid();
      const expiresMs = head.readUInt16BE(1) * dayMs;
      if (clock.now() >= expiresMs) throw createExpired();
      return { url, expiresMs };
    },
  };
}

/** Returns the expiry in days since 1970-01-01: 90 days after the current 30-day period. */
function expiryDay(nowMs: number): number {
  const period = Math.floor(nowMs / dayMs / periodDays) + 1;
  return period * periodDays + validDays;
}

function createInvalid(): Problem {
  const detail = 'The path is not an address that this server has signed.';
  return new Problem('invalid_picture_address', { detail });
}

function createExpired(): Problem {
  const detail = 'The address of this picture has expired.';
  return new Problem('expired_picture_address', { detail });
}
