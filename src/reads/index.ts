import { getOEmbed } from './get-oembed.ts';
import { getPost } from './get-post.ts';
import { getProfile } from './get-profile.ts';
import { listFollowers, listFollowing } from './list-connections.ts';
import type { Read } from './read.ts';
import { searchPosts } from './search-posts.ts';

/** All the reads, by the name that the route table and later the MCP tools use. */
export const reads = {
  getPost,
  getProfile,
  listFollowers,
  listFollowing,
  searchPosts,
  getOEmbed,
} as const satisfies Record<string, Read>;

/** The name of a read. */
export type ReadId = keyof typeof reads;
