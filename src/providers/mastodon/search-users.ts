import type { RequestContext } from '../../core/http/http-client.ts';
import { mapInSlices } from '../../core/scheduling/slices.ts';
import type { Account } from '../../model/account.ts';
import { parseHandle } from '../../model/reference.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import type { Ask } from '../provider.ts';
import { countSent, parseRows } from '../rows.ts';
import { shapeAccount } from './account.ts';
import type { Accounts } from './accounts.ts';
import { createUnreadable } from './failure.ts';
import { parseAccount } from './payload.ts';
import { tellCopiedAccounts, tellSuspended, tellUnread, withoutSuspended } from './rows.ts';
import { expectFound, type SearchOptions } from './search.ts';

/** What searches of accounts are asked of. */
export interface UserSearchOptions extends SearchOptions {
  readonly accounts: Accounts;
}

/** The most accounts that a search gives. */
const maxAccounts = 40;

/**
 * Makes the search of accounts, which is one page. A text that is a whole handle is asked of its own
 * server as well, which knows it for certain.
 */
export function askSearchUsers(options: UserSearchOptions): Ask<'searchUsers'> {
  return async ({ text }, context) => {
    const [named, found] = await Promise.all([
      readNamed(options.accounts, text, context),
      readFound(options, text, context),
    ]);
    return {
      items: uniqueByHandle([...named.accounts, ...found.accounts]),
      cursor: null,
      rows: named.accounts.length + found.sent,
      warnings: [tellLimits(options.host), ...named.warnings, ...found.warnings],
    };
  };
}

interface Named {
  readonly accounts: readonly Account[];
  readonly warnings: readonly string[];
}

/** Gives the account that a text names, if it names one that can be read; else why not. */
async function readNamed(
  accounts: Accounts,
  text: string,
  context: RequestContext,
): Promise<Named> {
  const reference = parseHandle(text.trim());
  if (reference?.platform !== 'mastodon') return { accounts: [], warnings: [] };
  try {
    const { row, home } = await accounts.read(reference.handle, context);
    return { accounts: [shapeAccount(row, home)], warnings: [] };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const isAbsent = error.kind === 'missing';
    return { accounts: [], warnings: isAbsent ? [] : [tellUnasked(reference.handle)] };
  }
}

async function readFound(
  { servers, host }: UserSearchOptions,
  text: string,
  context: RequestContext,
) {
  const path = `/api/v2/search?type=accounts&limit=${maxAccounts}&q=${encodeURIComponent(text)}`;
  const { body } = expectFound(await servers.get(host, path, context));
  const isObject = typeof body === 'object' && body !== null && 'accounts' in body;
  const found = isObject ? await parseRows(body.accounts, parseAccount, context) : null;
  if (found === null) throw createUnreadable();
  const home = { host, domain: host };
  const shown = withoutSuspended(found.rows);
  const accounts = await mapInSlices(shown, (row) => shapeAccount(row, home), context);
  const copied = tellCopiedAccounts(accounts, home);
  const warnings = [...copied, ...tellSuspended(found.rows), ...tellUnread(found, 'account')];
  return { accounts, warnings, sent: countSent(found) };
}

function uniqueByHandle(accounts: readonly Account[]): readonly Account[] {
  const seen = new Set<string>();
  return accounts.filter(({ screen_name }) => {
    const handle = screen_name.toLowerCase();
    const isNew = !seen.has(handle);
    seen.add(handle);
    return isNew;
  });
}

function tellUnasked(handle: string): string {
  return `The server of @${handle} gave no answer, so the account may be missing here.`;
}

function tellLimits(host: string): string {
  return `These are the accounts that ${host} knows; those of servers that it has never met are missing.`;
}
