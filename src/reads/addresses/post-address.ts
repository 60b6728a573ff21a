import { Problem, quoteInput } from '../../lib/problem.ts';
import { redactKeys } from '../../lib/redact.ts';
import { type PostReference, toPostReference } from '../../model/reference.ts';
import { getProfile } from '../get-profile.ts';
import { listFollowers, listFollowing } from '../list-connections.ts';
import { searchPosts } from '../search-posts.ts';
import { type AddressedRead, type AddressOptions, parseAddress } from './address.ts';
import { toOwnPath } from './own-paths.ts';

const others = {
  getProfile: { read: getProfile, name: 'an account' },
  listFollowers: { read: listFollowers, name: 'a list of followers' },
  listFollowing: { read: listFollowing, name: 'a list of accounts' },
  searchPosts: { read: searchPosts, name: 'a search' },
} as const;

/**
 * Parses the URL of a post. For other known URLs, the error names the route to use instead.
 * @throws Problem `invalid_url`, `unsupported_host` or `invalid_path`
 */
export function parsePostUrl(text: string, options: AddressOptions): PostReference {
  const addressed = parseAddress(text, options);
  const { handle, id, url } = addressed.given;
  if (typeof url === 'string') return { platform: 'activitypub', handle: null, id: url };
  const isNamed = typeof handle === 'string' && typeof id === 'string';
  const post = isNamed ? toPostReference(handle, id) : null;
  if (post !== null) return post;
  throw new Problem('invalid_path', {
    detail: `The parameter \`url\` has the value ${quoteInput(text)}, which is not the URL of a post.`,
    ...describeOther(addressed, options),
  });
}

const maxResolution = 500;

function describeOther(addressed: AddressedRead, { baseUrl }: AddressOptions) {
  if (!Object.hasOwn(others, addressed.read)) return {};
  // `Object.hasOwn` above proves that the read is a key of `others`.
  const { read, name } = others[addressed.read as keyof typeof others];
  const url = `${baseUrl}${toOwnPath(addressed, 'v1')}`;
  const resolution = `This is the URL of ${name}. Request \`${url}\`, or call the MCP tool \`${read.tool}\` with \`${JSON.stringify(addressed.given)}\`.`;
  return resolution.length > maxResolution ? {} : { resolution: redactKeys(resolution) };
}
