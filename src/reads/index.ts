import { getPost } from './get-post.ts';
import type { Read } from './read.ts';

/** All the reads, by the name that the route table and later the MCP tools use. */
export const reads = { getPost } as const satisfies Record<string, Read>;

/** The name of a read. */
export type ReadId = keyof typeof reads;
