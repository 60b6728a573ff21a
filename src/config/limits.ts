import { z } from 'zod';
import { flag, whole } from './forms.ts';

const perAddress = (...[least, most, byDefault]: Parameters<typeof whole>) =>
  whole(least, most, byDefault).describe('Maximum number of them for one client address.');

/** Environment variables of what clients may hold, each address and all of them together, and of imports. */
export const limitVariables = z.object({
  PERCH_CONNECTIONS: whole(1, 1_000_000, 10_000).describe(
    'Maximum number of open connections. Lower where the process may open fewer files.',
  ),
  PERCH_CONNECTIONS_PER_ADDRESS: whole(1, 1_000_000, 256).describe(
    'Maximum number of open connections of one client address. Connections of the proxies in `PERCH_TRUST_PROXY` are not counted.',
  ),
  PERCH_MAX_UPSTREAM_READS: whole(1, 100_000, 256).describe(
    'Maximum number of reads that wait for an upstream at once; more are answered `overloaded`.',
  ),
  PERCH_UPSTREAM_READS_PER_ADDRESS: perAddress(1, 100_000, 64),
  PERCH_UPSTREAM_READS_PER_HOST: whole(1, 100_000, 16).describe(
    'Maximum number of concurrent requests to one Mastodon host, which callers name.',
  ),
  PERCH_UPSTREAM_BYTES: whole(1_048_576, 68_719_476_736, 33_554_432).describe(
    'Maximum number of bytes of upstream responses that are being received or read at once.',
  ),
  PERCH_UPSTREAM_BYTES_PER_ADDRESS: perAddress(1_048_576, 68_719_476_736, 16_777_216),
  PERCH_REPLY_BYTES: whole(1_048_576, 68_719_476_736, 67_108_864).describe(
    'Maximum number of bytes in replies that clients have not read yet. Replies out of the cache share their bytes and are not counted.',
  ),
  PERCH_REPLY_BYTES_PER_ADDRESS: perAddress(1_048_576, 68_719_476_736, 16_777_216),
  PERCH_ARCHIVE_HISTORY: flag(false).describe(
    'Whether imported histories are kept in the archive, so that the next import only fetches the gaps.',
  ),
  PERCH_HISTORY_TIMEOUT_MS: whole(100, 3_600_000, 120_000).describe(
    'Milliseconds for one import of a history.',
  ),
  PERCH_HISTORY_CONCURRENCY: whole(1, 64, 48).describe(
    'The most pages that one import asks an upstream for at once.',
  ),
  PERCH_HISTORY_IMPORTS: whole(1, 1000, 16).describe(
    'Maximum number of imports at a time; more are answered `overloaded`.',
  ),
  PERCH_HISTORY_IMPORTS_PER_ADDRESS: perAddress(1, 1000, 2),
});
