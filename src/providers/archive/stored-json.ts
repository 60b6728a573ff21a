import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import { ownAddress } from './own-address.ts';

/** Reads stored JSON back. */
export interface Revive {
  post(json: string): Post;
  account(json: string): Account;
}

/** Creates what reads stored JSON back, with Perch's own address where the placeholder stands. */
export function createRevive(baseUrl: string): Revive {
  const parse = (json: string) => JSON.parse(json.replaceAll(`"${ownAddress}/`, `"${baseUrl}/`));
  return {
    post: (json) => parse(json) as Post, // written by `putPost` from a Post
    account: (json) => parse(json) as Account, // written by `putAccount` from an Account
  };
}
