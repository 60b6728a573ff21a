import { z } from 'zod';
import { integer, oneOf } from './schemas.ts';

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
