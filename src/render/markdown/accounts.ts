import type { Account } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';
import { cutLine, toLine } from './characters.ts';
import { escapeInline, escapeLine } from './escape.ts';
import {
  formatCount,
  formatDay,
  formatMinute,
  joinBlocks,
  joinFacts,
  joinLines,
  labelled,
  listItem,
} from './layout.ts';
import { link, toAutolink } from './links.ts';
import { renderLine, renderText } from './text.ts';

/** Returns an account as plain text: `Name (@handle)`, or the handle alone if there is no name. */
export function nameAccount(account: Account): string {
  const name = toLine(account.name);
  const handle = `@${toLine(account.screen_name)}`;
  return name === '' ? handle : `${name} (${handle})`;
}

/** Returns an account as Markdown for a heading: `Name (@handle)`. */
export function titleAccount({ screen_name: handle, name, url }: Account): string {
  const shown = titleHandle(handle, url);
  return toLine(name) === '' ? shown : `${escapeInline(name)} (${shown})`;
}

/** Returns a handle as Markdown for a heading. `@user@host` links to `url`, so that GitHub adds no e-mail link. */
export const titleHandle = (handle: string, url: string): string =>
  handle.includes('@') ? link(`@${handle}`, url) : escapeInline(`@${handle}`);

/** Returns an account as Markdown: `Name ([@handle](url))`. `emphasis`: Markdown marker to put around the name. */
export function linkAccount(account: Account, emphasis: '' | '**' = ''): string {
  const name = escapeInline(account.name);
  const handle = link(`@${account.screen_name}`, account.url);
  return name === '' ? handle : `${emphasis}${name}${emphasis} (${handle})`;
}

/** Returns `copied from [host](url)` as Markdown; `null` for a post or account that is not a copy. */
export const linkCopy = ({ copied_from: source }: Status | Account): string | null =>
  source === undefined ? null : `copied from ${link(source.host, source.url)}`;

/**
 * Returns the title prefix `Copy from host: ` for a post copied from another server, otherwise an
 * empty string. `toText` formats the host.
 */
export function copyPrefix(post: Post, toText: (host: string) => string = toLine): string {
  const source = post.type === 'status' ? post.copied_from : undefined;
  return source === undefined ? '' : `Copy from ${toText(source.host)}: `;
}

/**
 * Renders a Markdown section about an account. The title consists of `heading`, such as `## About`,
 * and the account's name.
 */
export const renderAbout = (heading: string, account: Account): string =>
  joinBlocks([`${heading} ${titleAccount(account)}`, renderProfile(account, false)]);

/** Renders an account's biography and profile fields as Markdown. `full` adds pictures, more counts and the ID. */
export function renderProfile(account: Account, full: boolean): string {
  const facts = [...factsOf(account, full), ...(full ? extraFactsOf(account) : [])];
  const items = facts.filter((fact) => fact !== '').map((fact) => listItem(fact));
  const about = renderText(account.description ?? '', account.description_facets ?? []);
  return joinBlocks([about, items.join('\n')]);
}

function factsOf(account: Account, full: boolean): readonly string[] {
  const { location, website, joined, copied_from: copied } = account;
  const formatJoined = full ? formatMinute : formatDay;
  return [
    labelled('Profile', toAutolink(account.url)),
    labelled('Copied from', copied === undefined ? null : link(copied.host, copied.url)),
    labelled('Location', location && escapeInline(location)),
    // Shows the actual URL, because a platform's display text can look like another URL.
    labelled('Website', website && (toAutolink(website.url) ?? escapeInline(website.url))),
    labelled('Joined', joined && formatJoined(joined)),
    joinFacts([
      formatCount(account.followers, 'follower', 'followers'),
      formatCount(account.following, 'following', 'following'),
      formatCount(account.statuses, 'post', 'posts'),
    ]),
    describeVerification(account),
    account.protected ? 'Protected: only approved followers see its posts' : '',
  ];
}

function extraFactsOf(account: Account): readonly string[] {
  const { avatar_url: avatar, banner_url: banner } = account;
  const pictures = Object.entries({ avatar, banner }).map(([name, url]) => url && link(name, url));
  return [
    joinFacts([
      formatCount(account.likes, 'like', 'likes'),
      formatCount(account.media_count, 'media item', 'media items'),
    ]),
    labelled('Pictures', joinFacts(pictures)),
    labelled('ID', escapeInline(account.id)),
  ];
}

function describeVerification({ verification: { verified, type } }: Account): string {
  if (!verified) return '';
  return type === null ? 'Verified' : `Verified: ${escapeInline(type)}`;
}

const maxBiography = 160; // maximum length in code points of a biography in a list: X's own limit

/** Renders accounts as a Markdown list with follower counts and the start of each biography. `full` adds details. */
export function renderAccountList(accounts: readonly Account[], full: boolean): string {
  const items = accounts.map((account) => {
    const facts = [
      linkAccount(account, '**'),
      formatCount(account.followers, 'follower', 'followers'),
      describeVerification(account),
      account.protected ? 'Protected' : null,
      linkCopy(account),
    ];
    const further = full ? describeDetails(account) : null;
    return listItem(joinLines([joinFacts(facts), describeBiography(account, full), further]));
  });
  return items.join('\n');
}

function describeBiography({ description }: Account, full: boolean): string {
  const line = toLine(description ?? '');
  const shown = full ? line : cutLine(line, maxBiography);
  // A shortened biography can end in a shortened URL, which must not become a link.
  return shown === line ? renderLine(line) : escapeLine(shown);
}

function describeDetails({ location, joined, following, statuses }: Account): string {
  return joinFacts([
    labelled('Location', location && escapeInline(location)),
    labelled('Joined', joined && formatDay(joined)),
    formatCount(following, 'following', 'following'),
    formatCount(statuses, 'post', 'posts'),
  ]);
}
