import { createHmac, hkdfSync } from 'node:crypto';

/** Value of `PERCH_CURSOR_KEY` with which `signPicture` signs. */
export const pictureSecret = 'a secret of the tests of pictures, of 32+';

export interface SignOptions {
  /** Day of expiry, in days since 1970. Default: a day in 2119. */
  readonly day?: number;
  readonly version?: number;
  readonly secret?: string;
}

/** Returns the path of a signed picture, also for URLs that the server itself would never sign. */
export function signPicture(url: string, options: SignOptions = {}): string {
  const { day = 0xd500, version = 1, secret = pictureSecret } = options;
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'perch picture addresses', 32));
  const head = Buffer.from([version, day >> 8, day & 0xff]);
  const rest = Buffer.from(url.replace('https://', ''));
  const mac = createHmac('sha256', key).update(head).update(rest).digest().subarray(0, 16);
  return `/media/${Buffer.concat([head, mac, rest]).toString('base64url')}`;
}
