import type { Clock } from '../../core/clock.ts';
import { HttpFailure, type RequestContext } from '../../core/http/http-client.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createMemory } from '../memory.ts';
import { type AskHome, lookupPath } from './homes.ts';
import { type Home, isOwn } from './identity.ts';
import { type AccountPayload, parseAccount } from './payload.ts';
import { createSuspended, createUnreadable, expectFound } from './servers.ts';

export interface LocatedAccount {
  readonly home: Home;
  readonly id: string;
  /** Whether its owner hides whom it follows and who follows it. */
  readonly hidesLists: boolean;
}

interface ReadAccount {
  readonly row: AccountPayload;
  readonly home: Home;
}

const maxLocated = 5000;

const locatedForMs = 300_000;

export type Accounts = ReturnType<typeof createAccounts>;

/** Creates the reads of accounts. They throw ProviderError, `missing` for one that is absent or suspended. */
export function createAccounts(askHome: AskHome, clock: Clock) {
  const located = createMemory<LocatedAccount>({
    clock,
    maxEntries: maxLocated,
    ttlMs: locatedForMs,
  });
  const toLocated = ({ row, home }: ReadAccount): LocatedAccount => ({
    home,
    id: row.id,
    hidesLists: row.hide_collections === true,
  });
  const read = shareReads(async (handle, context) => {
    const answered = await askHome(handle, (home) => lookupPath(handle, home), context);
    const account = { row: readRow(answered), home: answered.home };
    located.set(handle, toLocated(account));
    return account;
  });
  /** Returns where an account is, which is remembered for a while. */
  const locate = async (handle: string, context: RequestContext): Promise<LocatedAccount> =>
    located.get(handle) ?? toLocated(await read(handle, context));
  return {
    read,
    locate,
    readList: async (
      handle: string,
      toPath: (account: LocatedAccount) => string,
      context: RequestContext,
    ) => {
      const account = await locate(handle, context);
      const { reply } = await askHome(handle, () => toPath(account), context);
      if (reply.is !== 'found') located.delete(handle);
      return { account, reply: expectFound(reply, 'account') };
    },
  };
}

type ReadByHandle = (handle: string, context: RequestContext) => Promise<ReadAccount>;

/** Lets concurrent reads of an account, such as of a profile and its posts, share one request. */
function shareReads(read: ReadByHandle): ReadByHandle {
  const underWay = new Map<string, Promise<ReadAccount>>();
  const join: ReadByHandle = async (handle, context) => {
    const shared = underWay.get(handle);
    if (shared !== undefined) {
      try {
        return await shared;
      } catch (error) {
        if (isOfServer(error)) throw error;
        return join(handle, context);
      }
    }
    const reading = read(handle, context).finally(() => {
      if (underWay.get(handle) === reading) underWay.delete(handle);
    });
    underWay.set(handle, reading);
    return reading;
  };
  return join;
}

/** Returns whether the server has failed, and not the first caller left or could not pay. */
function isOfServer(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  return !(error.cause instanceof HttpFailure && error.cause.kind === 'aborted');
}

function readRow({ reply }: Awaited<ReturnType<AskHome>>): AccountPayload {
  const row = parseAccount(expectFound(reply, 'account').body);
  // A server must not be believed about the accounts of other servers.
  if (row === null || !isOwn(row)) throw createUnreadable();
  if (row.suspended === true) throw createSuspended();
  return row;
}
