import type { Client } from './caller.ts';

/** What a client holds while the server works for it. Bytes are counted as bytes, everything else by one. */
export const holdings = [
  'connections',
  'upstreamReads',
  'upstreamBytes',
  'replyBytes',
  'histories',
  'sessions',
  'sessionBytes',
  'queuedTurns',
  'streams',
] as const;

/** One thing that a client holds. */
export type Holding = (typeof holdings)[number];

/** Maximum amounts of one holding. */
export interface HoldingBound {
  readonly perAddress: number;
  readonly total: number;
}

/** What one piece of work holds. Release it when the work ends. */
export interface Hold {
  /** Takes an amount, and returns whether there was room. Takes nothing if there was none. */
  take(amount: number): boolean;
  /** Returns everything taken. Later calls change nothing. */
  release(): void;
}

/** The account of what each client holds. */
export interface Ledger {
  /**
   * Opens a hold that has taken nothing yet.
   *
   * @param client `null` for the server's own work, which is bounded by the total alone
   */
  open(holding: Holding, client: Client | null): Hold;
  /** Returns the amount that a client holds now. */
  heldBy(holding: Holding, name: string): number;
  /** Returns the amount that all clients hold now. */
  totalOf(holding: Holding): number;
  /** Returns how often an amount was refused since the start. */
  refusedOf(holding: Holding): number;
}

/** The addresses of a network may hold this many times what one address may. */
const addressesPerNetwork = 4;

/**
 * Creates a ledger in which nothing is held.
 *
 * An amount is refused where it would exceed the bound of the address, of its network or of all
 * clients, or where the client already holds more than would be left for all others. So one client
 * never has more than half of the total, and each further one gets at most half of what is left.
 */
export function createLedger(bounds: Readonly<Record<Holding, HoldingBound>>): Ledger {
  const books = new Map<Holding, Book>();
  const bookOf = (holding: Holding): Book => {
    const book = books.get(holding) ?? createBook(bounds[holding]);
    books.set(holding, book);
    return book;
  };
  return {
    open: (holding, client) => openHold(bookOf(holding), client),
    heldBy: (holding, name) => bookOf(holding).held.get(name) ?? 0,
    totalOf: (holding) => bookOf(holding).total,
    refusedOf: (holding) => bookOf(holding).refused,
  };
}

/** The amounts of one holding, by the name of the address or network. Names that hold nothing have no entry. */
export interface Book {
  readonly bound: HoldingBound;
  readonly held: Map<string, number>;
  total: number;
  /** How often an amount was refused. */
  refused: number;
}

/** Creates the account of one holding, such as the requests to one host, in which nothing is held. */
export function createBook(bound: HoldingBound): Book {
  return { bound, held: new Map(), total: 0, refused: 0 };
}

/** Opens a hold on one account, as `Ledger.open` does. */
export function openHold(book: Book, client: Client | null): Hold {
  const { perAddress } = book.bound;
  const limits = client === null ? [] : toLimits(client, perAddress);
  let taken = 0;
  const add = (amount: number): void => {
    taken += amount;
    book.total += amount;
    for (const { name } of limits) {
      const held = (book.held.get(name) ?? 0) + amount;
      if (held === 0) book.held.delete(name);
      else book.held.set(name, held);
    }
  };
  return {
    take: (amount) => {
      const left = book.bound.total - book.total - amount;
      const fits = limits.every(({ name, limit }) => {
        const held = book.held.get(name) ?? 0;
        return held + amount <= limit && held <= left;
      });
      if (left < 0 || !fits) {
        book.refused += 1;
        return false;
      }
      add(amount);
      return true;
    },
    release: () => add(-taken),
  };
}

function toLimits({ address, network }: Client, perAddress: number) {
  const own = { name: address, limit: perAddress };
  if (network === null) return [own];
  return [own, { name: network, limit: perAddress * addressesPerNetwork }];
}
