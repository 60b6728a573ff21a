import type { Account } from '../../model/account.ts';
import { toLine } from './characters.ts';
import { escapeInline } from './escape.ts';
import { formatCount, formatDay } from './figures.ts';
import { joinBlocks, joinFacts, listItem } from './layout.ts';
import { link, toAutolink } from './links.ts';
import { renderText } from './text.ts';

/** Gives an account as plain text: `Name (@handle)`, or the handle alone where there is no name. */
export function nameAccount(account: Account): string {
  const name = toLine(account.name);
  const handle = `@${toLine(account.screen_name)}`;
  return name === '' ? handle : `${name} (${handle})`;
}

/** Gives an account as `Name ([@handle](url))`; `**Name**` in a quote, where no heading says it. */
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
  return joinBlocks([`## About ${escapeInline(nameAccount(account))}`, ...describe(account)]);
}

/** Gives the section about several accounts. */
export function renderAccounts(accounts: readonly Account[]): string {
  const sections = accounts.map((account) =>
    joinBlocks([`### ${escapeInline(nameAccount(account))}`, ...describe(account)]),
  );
  return joinBlocks(['## Accounts', ...sections]);
}

function describe(account: Account): readonly string[] {
  const facts = factsOf(account).map((fact) => listItem(fact, '- '));
  return [renderText(account.description ?? '', []), facts.join('\n')];
}

function factsOf(account: Account): readonly string[] {
  const { location, website, joined, verification } = account;
  return [
    labelled('Profile', toAutolink(account.url)),
    labelled('Location', location === null ? null : escapeInline(location)),
    labelled('Website', website === null ? null : (toAutolink(website) ?? escapeInline(website))),
    labelled('Joined', joined === null ? null : formatDay(joined)),
    joinFacts([
      formatCount(account.followers, 'follower', 'followers'),
      formatCount(account.following, 'following', 'following'),
      formatCount(account.statuses, 'post', 'posts'),
    ]),
    verification.verified ? describeVerification(verification.type) : '',
    account.protected ? 'Protected: only approved followers see its posts' : '',
  ].filter((fact) => fact !== '');
}

function labelled(label: string, value: string | null): string {
  return value === null || value === '' ? '' : `${label}: ${value}`;
}

function describeVerification(type: string | null): string {
  return type === null ? 'Verified' : `Verified: ${escapeInline(type)}`;
}
