import type { Clock } from '../../core/clock.ts';
import { HttpFailure, type RequestContext } from '../../core/http/http-client.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import type { Ask } from '../provider.ts';
import { shapeAccount, tellAccount } from './account.ts';
import { createSuspended, createUnreadable, toAbsence } from './failure.ts';
import { type HomeReply, type Homes, lookupPath } from './homes.ts';
import { type Home, isOwn } from './identity.ts';
import { createMemory } from './memory.ts';
import { type AccountPayload, parseAccount } from './payload.ts';
import type { FoundReply } from './servers.ts';

/** An account at its home. Its lists are asked for by its id there. */
export interface LocatedAccount {
  readonly home: Home;
  readonly id: string;
  /** Whether its owner hides whom it follows and who follows it. */
  readonly hidesLists: boolean;
}

/** An account as its home describes it. */
interface ReadAccount {
  readonly row: AccountPayload;
  readonly home: Home;
}

/** Reads accounts by their handles. */
export interface Accounts {
  /**
   * Gives the account and its home.
   *
   * @throws ProviderError `missing` when it is not there, or suspended
   */
  read(handle: string, context: RequestContext): Promise<ReadAccount>;
  /**
   * Gives where an account is, which is remembered for a while.
   *
   * @throws as `read`
   */
  locate(handle: string, context: RequestContext): Promise<LocatedAccount>;
  /**
   * Asks for a list of an account.
   *
   * @throws as `read`
   */
  readList(
    handle: string,
    toPath: (account: LocatedAccount) => string,
    context: RequestContext,
  ): Promise<{ readonly account: LocatedAccount; readonly reply: FoundReply }>;
}

/** Accounts whose ids are remembered; more are looked up again. */
const maxLocated = 5000;

const locatedForMs = 300_000;

/** Creates the reads of accounts. */
export function createAccounts(homes: Homes, clock: Clock): Accounts {
  const located = createMemory<LocatedAccount>({
    clock,
    maxEntries: maxLocated,
    ttlMs: locatedForMs,
  });
  const read = shareReads(async (handle, context) => {
    const answered = await homes.ask(handle, (home) => lookupPath(handle, home), context);
    const row = readRow(answered);
    const { home } = answered;
    located.set(handle, { home, id: row.id, hidesLists: row.hide_collections === true });
    return { row, home };
  });
  const locate = async (handle: string, context: RequestContext): Promise<LocatedAccount> => {
    const known = located.get(handle);
    if (known !== undefined) return known;
    const { row, home } = await read(handle, context);
    return { home, id: row.id, hidesLists: row.hide_collections === true };
  };
  return {
    read,
    locate,
    readList: async (handle, toPath, context) => {
      const account = await locate(handle, context);
      const { reply } = await homes.ask(handle, () => toPath(account), context);
      if (reply.is === 'found') return { account, reply };
      located.delete(handle);
      throw toMissing(reply);
    },
  };
}

/** Lets those who read an account at the same time, as a profile and its posts are, share one read. */
function shareReads(read: Accounts['read']): Accounts['read'] {
  const underWay = new Map<string, Promise<ReadAccount>>();
  const begin: Accounts['read'] = (handle, context) => {
    const reading = read(handle, context).finally(() => {
      if (underWay.get(handle) === reading) underWay.delete(handle);
    });
    underWay.set(handle, reading);
    return reading;
  };
  const join: Accounts['read'] = async (handle, context) => {
    const shared = underWay.get(handle);
    if (shared === undefined) return begin(handle, context);
    try {
      return await shared;
    } catch (error) {
      if (isTold(error)) throw error;
      return join(handle, context);
    }
  };
  return join;
}

/** Tells whether a server has failed, and not the one who asked it first left or could not pay. */
function isTold(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  return !(error.cause instanceof HttpFailure && error.cause.kind === 'aborted');
}

function readRow({ reply }: HomeReply): AccountPayload {
  if (reply.is !== 'found') throw toMissing(reply);
  const row = parseAccount(reply.body);
  // Of accounts of other servers a server has no say: it would be believed in their name.
  if (row === null || !isOwn(row)) throw createUnreadable();
  if (row.suspended === true) throw createSuspended();
  return row;
}

function toMissing({ is }: HomeReply['reply']) {
  return is === 'suspended' ? createSuspended() : toAbsence('account');
}

/** Makes the read of a profile. */
export function askProfile(accounts: Accounts): Ask<'profile'> {
  return async ({ account }, context) => {
    const { row, home } = await accounts.read(account.handle, context);
    return { account: shapeAccount(row, home), warnings: tellAccount(row, home) };
  };
}
