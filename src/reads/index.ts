import { getOEmbed } from './get-oembed.ts';
import { getPost } from './get-post.ts';
import { getProfile } from './get-profile.ts';
import { importProfilePosts } from './import-profile-posts.ts';
import { listFollowers, listFollowing } from './list-connections.ts';
import { listReplies } from './list-replies.ts';
import { searchPosts } from './search-posts.ts';

/** The reads that are answered as a whole, by the name that the route table and the MCP tools use. */
export const reads = {
  getPost,
  listReplies,
  getProfile,
  listFollowers,
  listFollowing,
  searchPosts,
  getOEmbed,
} as const;

export type ReadId = keyof typeof reads;

/** All the reads: also the one that can be sent as a stream. */
export const allReads = { ...reads, importProfilePosts } as const;
export type AnyReadId = keyof typeof allReads;
