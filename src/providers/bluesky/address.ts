import { z } from 'zod';
import { isPostId, postUrl, profileUrl } from '../../model/reference.ts';
import { url } from '../../platforms/lenient.ts';

/** A record of AT Protocol, as an `at://` URI names it. */
export interface RecordAddress {
  readonly uri: string;
  readonly did: string;
  readonly collection: string;
  readonly rkey: string;
}

/** The collection of posts. */
export const postCollection = 'app.bsky.feed.post';

const didForm = /^did:[a-z]+:[A-Za-z0-9._:%-]{1,2000}$/;
const uriForm = /^at:\/\/([^/?#]+)\/([A-Za-z0-9.-]+)\/([^/?#]+)$/;

/** The lasting name of an account. */
export const did = z.string().regex(didForm);

/** Reads the address of a record; null for what is none, also where a handle stands for the DID. */
export function parseRecordUri(uri: string): RecordAddress | null {
  const [, owner = '', collection = '', rkey = ''] = uriForm.exec(uri) ?? [];
  if (!didForm.test(owner) || !isPostId('bluesky', rkey)) return null;
  return { uri, did: owner, collection, rkey };
}

/** The `at://` URI of any record. */
export const recordUri = url.transform((uri, context) => {
  const address = parseRecordUri(uri);
  if (address !== null) return address;
  context.addIssue({ code: 'custom', message: 'This is no address of a record.' });
  return z.NEVER;
});

/** The `at://` URI of a post. */
export const postUri = recordUri.refine(({ collection }) => collection === postCollection);

/** Writes the `at://` URI of a post; its account is named by handle or DID. */
export function writePostUri(account: string, rkey: string): string {
  return `at://${account}/${postCollection}/${rkey}`;
}

/** Gives the address of a post on bsky.app; its account is named by handle or DID. */
export function blueskyPostUrl(account: string, rkey: string): string {
  return postUrl({ platform: 'bluesky', handle: account, id: rkey }, '');
}

/** Gives the address of an account on bsky.app; it is named by handle or DID. */
export function blueskyProfileUrl(account: string): string {
  return profileUrl('bluesky', account, '');
}
