import { z } from 'zod';
import { wholeNumber } from './forms.ts';

/** The environment variables of what clients may hold: each address, and all of them together. */
export const limitVariables = z.object({
  PERCH_CONNECTIONS: wholeNumber(1, 1_000_000, 10_000).describe(
    'Maximum number of open connections. Lower where the process may open fewer files.',
  ),
  PERCH_CONNECTIONS_PER_ADDRESS: wholeNumber(1, 1_000_000, 256).describe(
    'Maximum number of open connections of one client address. Connections of the proxies in `PERCH_TRUST_PROXY` are not counted.',
  ),
  PERCH_MAX_UPSTREAM_READS: wholeNumber(1, 100_000, 256).describe(
    'Maximum number of reads that wait for an upstream at once; more are answered `overloaded`.',
  ),
  PERCH_UPSTREAM_READS_PER_ADDRESS: wholeNumber(1, 100_000, 64).describe(
    'Maximum number of them for one client address.',
  ),
  PERCH_UPSTREAM_READS_PER_HOST: wholeNumber(1, 100_000, 16).describe(
    'Maximum number of concurrent requests to one Mastodon host, which callers name.',
  ),
  PERCH_UPSTREAM_BYTES: wholeNumber(1_048_576, 68_719_476_736, 33_554_432).describe(
    'Maximum number of bytes of upstream responses that are being received or read at once.',
  ),
  PERCH_UPSTREAM_BYTES_PER_ADDRESS: wholeNumber(1_048_576, 68_719_476_736, 16_777_216).describe(
    'Maximum number of them for one client address.',
  ),
  PERCH_REPLY_BYTES: wholeNumber(1_048_576, 68_719_476_736, 67_108_864).describe(
    'Maximum number of bytes in replies that clients have not read yet. Replies out of the cache share their bytes and are not counted.',
  ),
  PERCH_REPLY_BYTES_PER_ADDRESS: wholeNumber(1_048_576, 68_719_476_736, 16_777_216).describe(
    'Maximum number of them for one client address.',
  ),
});
