import { z } from 'zod';
import { flag, integer, oneOf } from './schemas.ts';

export const limitVariables = z.object({
  PERCH_CONNECTIONS: integer(1, 1_000_000, 10_000).describe(
    'Maximum number of open connections. Perch accepts fewer if the open-file limit of the process is low.',
  ),
  PERCH_CONNECTIONS_PER_ADDRESS: integer(1, 1_000_000, 256).describe(
    'Maximum number of open connections from one client address. Connections from the proxies in `PERCH_TRUST_PROXY` are not counted.',
  ),
  PERCH_MAX_UPSTREAM_READS: integer(1, 100_000, 256).describe(
    'Maximum number of reads that wait for an upstream at the same time. Perch refuses further reads with the error `overloaded`.',
  ),
  PERCH_UPSTREAM_READS_PER_ADDRESS: integer(1, 100_000, 64).describe(
    'Maximum number of reads from one client address that wait for an upstream at the same time.',
  ),
  PERCH_UPSTREAM_READS_PER_HOST: integer(1, 100_000, 16).describe(
    'Maximum number of concurrent requests to one Mastodon server.',
  ),
  PERCH_UPSTREAM_BYTES: integer(1_048_576, 68_719_476_736, 33_554_432).describe(
    'Maximum total size of the upstream responses that Perch receives or parses at the same time, in bytes.',
  ),
  PERCH_UPSTREAM_BYTES_PER_ADDRESS: integer(1_048_576, 68_719_476_736, 16_777_216).describe(
    'Maximum total size of the upstream responses that Perch receives or parses at the same time for one client address, in bytes.',
  ),
  PERCH_REPLY_BYTES: integer(1_048_576, 68_719_476_736, 67_108_864).describe(
    'Maximum total size in bytes of the responses that clients have not received yet, and of the request bodies that Perch is receiving. A cached response counts once, however many clients are receiving it.',
  ),
  PERCH_REPLY_BYTES_PER_ADDRESS: integer(1_048_576, 68_719_476_736, 16_777_216).describe(
    'Maximum total size in bytes of the responses that one client address has not received yet, and of its request bodies.',
  ),
  PERCH_ARCHIVE_HISTORY: flag(false).describe(
    'Whether Perch stores histories in the archive. A history is the response to one request for the posts of an account in a date range. For a later history of the same account, Perch then fetches only the missing posts.',
  ),
  PERCH_ARCHIVE_HISTORY_BYTES: integer(1_048_576, 1_125_899_906_842_624, 1_073_741_824).describe(
    'Maximum total size of the histories that Perch stores in the archive, in bytes. If it is exceeded, Perch deletes the stored histories of the accounts that it has read the longest ago.',
  ),
  PERCH_ARCHIVE_MEDIA_BYTES: integer(0, 1_125_899_906_842_624, 10_737_418_240).describe(
    'Maximum total size of the pictures, videos and sounds that imports copy into the archive, in bytes. Imports leave out further files. With `0`, imports copy no files.',
  ),
  PERCH_ARCHIVE_MEDIA_FILE_BYTES: integer(0, 1_099_511_627_776, 1_073_741_824).describe(
    'Maximum size of one picture, video or sound that imports copy into the archive, in bytes.',
  ),
  PERCH_HISTORY_TIMEOUT_MS: integer(100, 3_600_000, 120_000).describe(
    'Timeout in milliseconds for one NDJSON history. For other formats, `PERCH_READ_TIMEOUT_MS` applies.',
  ),
  PERCH_HISTORY_CONCURRENCY: integer(1, 64, 48).describe(
    'Maximum number of pages that Perch requests from an upstream at the same time for one history.',
  ),
  PERCH_HISTORY_IMPORTS: integer(1, 1000, 16).describe(
    'Maximum number of concurrent histories. Perch refuses further histories with the error `overloaded`.',
  ),
  PERCH_HISTORY_IMPORTS_PER_ADDRESS: integer(1, 1000, 2).describe(
    'Maximum number of concurrent histories for one client address.',
  ),
});

export const pictureVariables = z.object({
  PERCH_MEDIA: oneOf('proxy', 'direct', 'off').describe(
    'Pictures of posts in pages, feeds and embeds: Perch fetches them from their hosts for the reader (`proxy`), the browser of the reader fetches them from their hosts (`direct`), or the posts only link to them (`off`).',
  ),
  PERCH_MEDIA_MAX_BYTES: integer(1024, 1_073_741_824, 10_485_760).describe(
    'Maximum size in bytes of a picture that Perch fetches. Perch also refuses pictures that are larger than `PERCH_REPLY_BYTES_PER_ADDRESS`.',
  ),
  PERCH_MEDIA_CACHE_BYTES: integer(0, 1_099_511_627_776, 1_073_741_824).describe(
    'Maximum size in bytes of the cache of pictures, the folder `media-cache` in the data directory. Perch deletes the least recently used pictures first. With `PERCH_DATA_DIR=:memory:`, the cache is in memory, and its maximum size is 32 MiB.',
  ),
  PERCH_MEDIA_ALLOWANCE: integer(1, 1_000_000, 600).describe(
    'Allowance of each client address for pictures: maximum number of pictures that Perch fetches in the period `PERCH_ALLOWANCE_WINDOW_SECONDS`. Pictures from the cache do not count.',
  ),
});
