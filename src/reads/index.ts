import { getOEmbed } from './get-oembed.ts';
import { getPost } from './get-post.ts';
import { getProfile } from './get-profile.ts';
import { importProfilePosts } from './import-profile-posts.ts';
import { listFollowers, listFollowing } from './list-connections.ts';
import { listReplies } from './list-replies.ts';
import { searchPosts } from './search-posts.ts';

/** Read operations whose responses are never streams. The keys are the names in the route table. */
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

/** All read operations, including `importProfilePosts`, whose response can be a stream. */
export const allReads = { ...reads, importProfilePosts } as const;
export type AnyReadId = keyof typeof allReads;
