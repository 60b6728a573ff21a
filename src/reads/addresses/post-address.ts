import { Problem, quoteInput } from '../../core/problem.ts';
import { redactKeys } from '../../core/redact.ts';
import { type PostReference, toPostReference } from '../../model/reference.ts';
import { getProfile } from '../get-profile.ts';
import { listFollowers, listFollowing } from '../list-connections.ts';
import { searchPosts } from '../search-posts.ts';
import { type AddressedRead, type AddressPlace, readAddress } from './address.ts';
import { toOwnAddress } from './own-path.ts';

/** The reads that an address can stand for instead of a post, with their names in sentences. */
const others = {
  getProfile: { read: getProfile, name: 'an account' },
  listFollowers: { read: listFollowers, name: 'a list of followers' },
  listFollowing: { read: listFollowing, name: 'a list of accounts' },
  searchPosts: { read: searchPosts, name: 'a search' },
} as const;

/**
 * Reads the URL of a post.
 *
 * @throws Problem `invalid_url`, `unsupported_host`, or `invalid_path`, which names the route for another address
 */
export function readPostUrl(text: string, place: AddressPlace): PostReference {
  const addressed = readAddress(text, place);
  const { handle, id } = addressed.given;
  const isNamed = typeof handle === 'string' && typeof id === 'string';
  const post = isNamed ? toPostReference(handle, id) : null;
  if (post !== null) return post;
  throw new Problem('invalid_path', {
    detail: `The parameter \`url\` has the value ${quoteInput(text)}, which is not the URL of a post.`,
    ...describeOther(addressed, place),
  });
}

/** Longer ones would only send the caller's own text back. */
const maxResolution = 500;

function describeOther(addressed: AddressedRead, { baseUrl }: AddressPlace) {
  if (!Object.hasOwn(others, addressed.read)) return {};
  // The check above has found the read among the keys of the table.
  const { read, name } = others[addressed.read as keyof typeof others];
  const url = `${baseUrl}${toOwnAddress(addressed, 'v1')}`;
  const resolution = `This is the address of ${name}: read \`${url}\`, or call the MCP tool \`${read.tool}\` with \`${JSON.stringify(addressed.given)}\`.`;
  return resolution.length > maxResolution ? {} : { resolution: redactKeys(resolution) };
}
