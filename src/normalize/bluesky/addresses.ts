import * as z from 'zod';
import { postUrl, profileUrl } from '../../model/addresses/urls.ts';
import { isPostId } from '../../model/reference.ts';
import { refuse, url } from '../lenient.ts';

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

/** Returns `null` for anything but an `at://` URI with a DID. */
export function parseRecordUri(uri: string): RecordAddress | null {
  const [, owner = '', collection = '', rkey = ''] = uriForm.exec(uri) ?? [];
  if (!didForm.test(owner) || !isPostId('bluesky', rkey)) return null;
  return { uri, did: owner, collection, rkey };
}

export const recordUri = url.transform(
  (uri, context) => parseRecordUri(uri) ?? refuse(context, 'This is not the URI of a record.'),
);

export const postUri = recordUri.refine(({ collection }) => collection === postCollection);

export const writePostUri = (account: string, rkey: string): string =>
  `at://${account}/${postCollection}/${rkey}`;

export const blueskyPostUrl = (account: string, rkey: string): string =>
  postUrl({ platform: 'bluesky', handle: account, id: rkey }, '');

export const blueskyProfileUrl = (account: string): string => profileUrl('bluesky', account, '');

interface RecordPage {
  readonly url: string;
  readonly title: string;
}

/** Returns `null` if the collection's records have no web page. `account`: handle or DID. */
export function pageOfRecord(
  { collection, rkey }: RecordAddress,
  account: string,
): RecordPage | null {
  const profile = blueskyProfileUrl(account);
  switch (collection) {
    case postCollection:
      return { url: blueskyPostUrl(account, rkey), title: 'Quoted post' };
    case 'app.bsky.feed.generator':
      return { url: `${profile}/feed/${rkey}`, title: 'Feed' };
    case 'app.bsky.graph.list':
      return { url: `${profile}/lists/${rkey}`, title: 'List' };
    case 'app.bsky.graph.starterpack': {
      const packs = profile.replace('/profile/', '/starter-pack/');
      return { url: `${packs}/${rkey}`, title: 'Starter pack' };
    }
    case 'app.bsky.labeler.service':
      return { url: profile, title: 'Labeler' };
    default:
      return null;
  }
}

/** Alphabet of TIDs, which are record keys that encode a time. */
const letters = '234567abcdefghijklmnopqrstuvwxyz';

const firstMs = Date.UTC(2022, 10);

/**
 * Returns the Unix milliseconds in a record key; `null` if it is not a TID
 * (https://atproto.com/specs/tid), or if the time is before November 2022 or after `latestMs`. The
 * author's app chooses the key.
 */
export function readTidMs(key: string, latestMs: number): number | null {
  if (!/^[2-7a-j][2-7a-z]{12}$/.test(key)) return null;
  let value = 0n;
  for (const letter of key) value = value * 32n + BigInt(letters.indexOf(letter));
  const ms = Number(value >> 10n) / 1000;
  return ms >= firstMs && ms <= latestMs ? ms : null;
}
