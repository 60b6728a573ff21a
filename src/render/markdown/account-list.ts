import type { Account } from '../../model/account.ts';
import { describeVerification, labelled, linkAccount } from './accounts.ts';
import { cutLine, toLine } from './characters.ts';
import { linkCopy } from './copies.ts';
import { escapeInline, escapeLine } from './escape.ts';
import { formatCount, formatDay } from './figures.ts';
import { joinFacts, joinLines, listItem } from './layout.ts';
import { renderLine } from './text.ts';

/** Code points of a biography that a list shows: as many as one on X can have. */
const maxBiography = 160;

/**
 * Gives accounts as a list, each with its followers and the beginning of its biography; `full`
 * shows the whole of it, and adds where the account is, since when, and how much it posted.
 */
export function renderAccountList(accounts: readonly Account[], full: boolean): string {
  return accounts
    .map((account) => [
      nameWithStanding(account),
      describeBriefly(account, full),
      full ? describeFurther(account) : null,
    ])
    .map((lines) => listItem(joinLines(lines), '- '))
    .join('\n');
}

function nameWithStanding(account: Account): string {
  return joinFacts([
    linkAccount(account, '**'),
    formatCount(account.followers, 'follower', 'followers'),
    account.verification.verified ? describeVerification(account.verification.type) : null,
    account.protected ? 'Protected' : null,
    linkCopy(account),
  ]);
}

function describeBriefly({ description }: Account, full: boolean): string {
  const line = toLine(description ?? '');
  const shown = full ? line : cutLine(line, maxBiography);
  // A URL at the end of a cut text can be cut as well, and would lead elsewhere.
  return shown === line ? renderLine(line) : escapeLine(shown);
}

function describeFurther({ location, joined, following, statuses }: Account): string {
  return joinFacts([
    labelled('Location', location === null ? null : escapeInline(location)),
    labelled('Joined', joined === null ? null : formatDay(joined)),
    formatCount(following, 'following', 'following'),
    formatCount(statuses, 'post', 'posts'),
  ]);
}
