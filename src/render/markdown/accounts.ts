import type { Account } from '../../model/account.ts';
import { toLine } from './characters.ts';
import { escapeInline } from './escape.ts';
import { formatCount, formatDay, formatMinute } from './figures.ts';
import { joinBlocks, joinFacts, listItem } from './layout.ts';
import { link, toAutolink } from './links.ts';
import { renderText } from './text.ts';

/** Gives an account as plain text: `Name (@handle)`, or the handle alone where there is no name. */
export function nameAccount(account: Account): string {
  const name = toLine(account.name);
  const handle = `@${toLine(account.screen_name)}`;
  return name === '' ? handle : `${name} (${handle})`;
}

/**
 * Returns an account as Markdown for a heading: `Name (@handle)`. A handle such as `@user@host` is a link,
 * because GitHub takes it for an e-mail address elsewhere, even where it is escaped.
 */
export function headAccount(account: Account): string {
  const { screen_name: handle, name, url } = account;
  const shown = headHandle(handle, url);
  return toLine(name) === '' ? shown : `${escapeInline(name)} (${shown})`;
}

/** Returns a handle as Markdown for a heading, as `headAccount` does. */
export function headHandle(handle: string, url: string): string {
  return handle.includes('@') ? linkHandle(handle, url) : escapeInline(`@${handle}`);
}

/** Returns an account as `Name ([@handle](url))`, with `**Name**` in a quote, where no heading has it. */
export function linkAccount(account: Account, emphasis: '' | '**' = ''): string {
  const name = escapeInline(account.name);
  const handle = linkHandle(account.screen_name, account.url);
  return name === '' ? handle : `${emphasis}${name}${emphasis} (${handle})`;
}

/** Gives a handle as `[@handle](url)`. */
export function linkHandle(handle: string, url: string | null): string {
  return link(`@${handle}`, url);
}

/** Gives the section about one account: what it says of itself, and what is known of it. */
export function renderAbout(account: Account): string {
  return joinBlocks([`## About ${headAccount(account)}`, renderProfile(account, false)]);
}

/** Gives the section about several accounts. */
export function renderAccounts(accounts: readonly Account[]): string {
  const sections = accounts.map((account) =>
    joinBlocks([`### ${headAccount(account)}`, renderProfile(account, false)]),
  );
  return joinBlocks(['## Accounts', ...sections]);
}

/**
 * Gives what an account says of itself, and below it what is known of it; `full` adds its
 * pictures, its lesser counts and the exact time it joined.
 */
export function renderProfile(account: Account, full: boolean): string {
  const facts = [...factsOf(account, full), ...(full ? furtherFactsOf(account) : [])]
    .filter((fact) => fact !== '')
    .map((fact) => listItem(fact, '- '));
  const about = renderText(account.description ?? '', account.description_facets ?? []);
  return joinBlocks([about, facts.join('\n')]);
}

function factsOf(account: Account, full: boolean): readonly string[] {
  const { location, website, joined, verification, copied_from: copied } = account;
  const formatJoined = full ? formatMinute : formatDay;
  return [
    labelled('Profile', toAutolink(account.url)),
    labelled('Copied from', copied === undefined ? null : link(copied.host, copied.url)),
    labelled('Location', location === null ? null : escapeInline(location)),
    labelled('Website', website === null ? null : renderWebsite(website)),
    labelled('Joined', joined === null ? null : formatJoined(joined)),
    joinFacts([
      formatCount(account.followers, 'follower', 'followers'),
      formatCount(account.following, 'following', 'following'),
      formatCount(account.statuses, 'post', 'posts'),
    ]),
    verification.verified ? describeVerification(verification.type) : '',
    account.protected ? 'Protected: only approved followers see its posts' : '',
  ];
}

/** Shows the address itself: what a platform shows in its place may look like another one. */
function renderWebsite({ url }: NonNullable<Account['website']>): string {
  return toAutolink(url) ?? escapeInline(url);
}

function furtherFactsOf(account: Account): readonly string[] {
  const { avatar_url: avatar, banner_url: banner } = account;
  return [
    joinFacts([
      formatCount(account.likes, 'like', 'likes'),
      formatCount(account.media_count, 'media item', 'media items'),
    ]),
    labelled(
      'Pictures',
      joinFacts([
        avatar === null ? null : link('avatar', avatar),
        banner === null ? null : link('banner', banner),
      ]),
    ),
    labelled('ID', escapeInline(account.id)),
  ];
}

/** Gives `Label: value`; empty where the value is null or empty. */
export function labelled(label: string, value: string | null): string {
  return value === null || value === '' ? '' : `${label}: ${value}`;
}

/** Says that an account is verified, and as what where that is known. */
export function describeVerification(type: string | null): string {
  return type === null ? 'Verified' : `Verified: ${escapeInline(type)}`;
}
