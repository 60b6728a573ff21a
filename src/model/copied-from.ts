import { z } from 'zod';

/** The server that sent a copy of something of another server. */
export const copiedFrom = z
  .object({
    host: z.string().describe('The server that was asked, which may have changed the copy.'),
    url: z.string().describe('The address of the copy on that server.'),
  })
  .readonly()
  .meta({ id: 'CopiedFrom' });

/** The server that sent a copy of something of another server. */
export type CopiedFrom = z.output<typeof copiedFrom>;
