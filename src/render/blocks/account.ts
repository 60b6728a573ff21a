import type { Account } from '../../model/account.ts';
import { cutLine, toLine } from '../markdown/characters.ts';
import { formatCount } from '../markdown/layout.ts';
import { day, describeCopy, labelled, link, minute, plain, present, type Words } from './block.ts';

/** Facts of a profile, each on a line of its own. `full` adds pictures, more counts and the ID. */
export function listProfileFacts(account: Account, full: boolean): readonly Words[] {
  return present([...factsOf(account, full), ...(full ? extraFactsOf(account) : [])]);
}

interface ProfileHead {
  readonly facts: readonly Words[];
  readonly counts: readonly ProfileCount[];
  readonly details: readonly Words[];
}

interface ProfileCount {
  readonly list: 'posts' | 'followers' | 'following';
  readonly count: number;
  readonly label: string;
}

/** Returns the head of an account's page. `full` adds pictures, more counts and the ID. */
export function toProfileHead(account: Account, full: boolean): ProfileHead {
  const { location, website, joined, statuses, followers, following } = account;
  const counts = [
    { list: 'posts', count: statuses, label: statuses === 1 ? 'post' : 'posts' },
    { list: 'followers', count: followers, label: followers === 1 ? 'follower' : 'followers' },
    { list: 'following', count: following, label: 'following' },
  ] as const;
  return {
    facts: present<Words>([
      location && plain(location),
      website && { type: 'url', url: website.url },
      joined && ['Joined ', full ? minute(joined) : day(joined)],
      describeVerification(account),
      describeProtection(account),
      describeCopy(account),
    ]),
    counts: counts.flatMap(({ count, ...rest }) => (count === null ? [] : [{ count, ...rest }])),
    details: full ? present(extraFactsOf(account)) : [],
  };
}

function join(facts: readonly (Words | null)[]): Words | null {
  const shown = present(facts);
  return shown.length === 0
    ? null
    : shown.flatMap((fact, at) => (at === 0 ? [fact] : [' · ', fact]));
}

function factsOf(account: Account, full: boolean): readonly (Words | null)[] {
  const { location, website, joined, url, copied_from: copied } = account;
  return [
    labelled('Profile', { type: 'url', url }),
    labelled('Copied from', copied === undefined ? null : link(copied.host, copied.url)),
    labelled('Location', location && plain(location)),
    // Shows the actual URL, because a platform's display text can look like another URL.
    labelled('Website', website && { type: 'url', url: website.url }),
    labelled('Joined', joined && (full ? minute(joined) : day(joined))),
    join([
      formatCount(account.followers, 'follower', 'followers'),
      formatCount(account.following, 'following', 'following'),
      formatCount(account.statuses, 'post', 'posts'),
    ]),
    describeVerification(account),
    describeProtection(account),
  ];
}

const describeProtection = (account: Account): Words | null =>
  account.protected ? 'Protected: only approved followers see its posts' : null;

function extraFactsOf(account: Account): readonly (Words | null)[] {
  const { avatar_url: avatar, banner_url: banner } = account;
  const pictures = Object.entries({ avatar, banner }).map(([name, url]) => url && link(name, url));
  return [
    join([
      formatCount(account.likes, 'like', 'likes'),
      formatCount(account.media_count, 'media item', 'media items'),
    ]),
    labelled('Pictures', join(pictures)),
    labelled('ID', plain(account.id)),
  ];
}

function describeVerification({ verification: { verified, type } }: Account): Words | null {
  if (!verified) return null;
  return type === null ? 'Verified' : ['Verified: ', plain(type)];
}

interface AccountRow {
  readonly facts: readonly Words[];
  readonly biography: Words;
  readonly details: readonly Words[];
}

const maxBiography = 160; // maximum length in code points of a biography in a list: X's own limit

/** Returns an account in a list. `full` adds details and the whole biography. */
export function toAccountRow(account: Account, full: boolean): AccountRow {
  return {
    facts: present([
      formatCount(account.followers, 'follower', 'followers'),
      describeVerification(account),
      account.protected ? 'Protected' : null,
      describeCopy(account),
    ]),
    biography: describeBiography(account, full),
    details: full ? present(detailsOf(account)) : [],
  };
}

function describeBiography({ description }: Account, full: boolean): Words {
  const whole = toLine(description ?? '');
  const shown = full ? whole : cutLine(whole, maxBiography);
  // A shortened biography can end in a shortened URL, which must not become a link.
  return shown === whole ? { type: 'prose', text: whole } : plain(shown);
}

const detailsOf = ({ location, joined, following, statuses }: Account) => [
  labelled('Location', location && plain(location)),
  labelled('Joined', joined && day(joined)),
  formatCount(following, 'following', 'following'),
  formatCount(statuses, 'post', 'posts'),
];
