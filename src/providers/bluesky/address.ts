import { z } from 'zod';
import { isPostId, postUrl, profileUrl } from '../../model/reference.ts';
import { url } from '../../platforms/lenient.ts';

/** A record of the AT Protocol, as an `at://` URI names it. */
export interface RecordAddress {
  readonly uri: string;
  readonly did: string;
  readonly collection: string;
  readonly rkey: string;
}

export const postCollection = 'app.bsky.feed.post';

const didForm = /^did:[a-z]+:[A-Za-z0-9._:%-]{1,2000}$/;
const uriForm = /^at:\/\/([^/?#]+)\/([A-Za-z0-9.-]+)\/([^/?#]+)$/;

export const did = z.string().regex(didForm);

/** Parses the address of a record. Returns `null` for anything else, also for one with a handle. */
export function parseRecordUri(uri: string): RecordAddress | null {
  const [, owner = '', collection = '', rkey = ''] = uriForm.exec(uri) ?? [];
  if (!didForm.test(owner) || !isPostId('bluesky', rkey)) return null;
  return { uri, did: owner, collection, rkey };
}

export const recordUri = url.transform((uri, context) => {
  const address = parseRecordUri(uri);
  if (address !== null) return address;
  context.addIssue({ code: 'custom', message: 'This is no address of a record.' });
  return z.NEVER;
});

export const postUri = recordUri.refine(({ collection }) => collection === postCollection);

export function writePostUri(account: string, rkey: string): string {
  return `at://${account}/${postCollection}/${rkey}`;
}

export function blueskyPostUrl(account: string, rkey: string): string {
  return postUrl({ platform: 'bluesky', handle: account, id: rkey }, '');
}

export function blueskyProfileUrl(account: string): string {
  return profileUrl('bluesky', account, '');
}
