import type { Client } from '../caller.ts';

/** Resources that a client holds while the server works for it: numbers of things, or bytes. */
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

export type Holding = (typeof holdings)[number];

/** Maximum amounts of one holding. */
export interface HoldingBound {
  readonly perAddress: number;
  readonly total: number;
}

/** The part of a resource that one piece of work holds. Release it when the work ends. */
export interface Hold {
  /** Takes an amount, and returns whether there was room. Takes nothing if there was none. */
  take(amount: number): boolean;
  /** Returns everything taken. Later calls change nothing. */
  release(): void;
}

/** Amounts of one holding that are counted outside of the ledger, such as in a file. */
export interface Account {
  heldBy(name: string): number;
  total(): number;
}

/** The exceeded bound. `share`: the client already holds more than would be left for all others. */
export type Excess = 'address' | 'network' | 'total' | 'share';

export type Ledger = ReturnType<typeof createLedger>;

/** The addresses of a network may have this many times what one address may. */
export const addressesPerNetwork = 4;

/**
 * Creates an empty ledger. It refuses an amount over the bound of the address, its network or all clients, and if the
 * client already holds more than would be left for all others: so no client has more than half of the total.
 */
export function createLedger(bounds: Readonly<Record<Holding, HoldingBound>>) {
  const books = new Map<Holding, Book>();
  const bookOf = (holding: Holding): Book => {
    const book = books.get(holding) ?? createBook(bounds[holding]);
    books.set(holding, book);
    return book;
  };
  return {
    /** Opens an empty hold; `null` is the server's own work, which is bounded by the total alone. */
    open: (holding: Holding, client: Client | null): Hold => openHold(bookOf(holding), client),
    /** Counts an account in addition to holds from now on. */
    include: (holding: Holding, account: Account): void => {
      bookOf(holding).account = account;
    },
    /** Returns the bound that a client would exceed with an amount more; `null` if there is room. */
    findExcess: (holding: Holding, client: Client | null, amount: number): Excess | null => {
      const book = bookOf(holding);
      return findExcess(book, toLimits(client, book.bound), amount);
    },
    heldBy: (holding: Holding, name: string): number => heldIn(bookOf(holding), name),
    totalOf: (holding: Holding): number => totalIn(bookOf(holding)),
    /** Returns how often an amount was refused since the start. */
    refusedOf: (holding: Holding): number => bookOf(holding).refused,
  };
}

/** The amounts of one holding, by the name of the address or network. Names that hold nothing have no entry. */
export interface Book {
  readonly bound: HoldingBound;
  readonly held: Map<string, number>;
  total: number;
  refused: number;
  account: Account;
}

const emptyAccount: Account = { heldBy: () => 0, total: () => 0 };

/** Creates the account of one holding, such as the requests to one host, in which nothing is held. */
export function createBook(bound: HoldingBound): Book {
  return { bound, held: new Map(), total: 0, refused: 0, account: emptyAccount };
}

const heldIn = ({ held, account }: Book, name: string) =>
  (held.get(name) ?? 0) + account.heldBy(name);

const totalIn = ({ total, account }: Book) => total + account.total();

/** Opens a hold on one account, as `Ledger.open` does. */
export function openHold(book: Book, client: Client | null): Hold {
  const limits = toLimits(client, book.bound);
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
      if (findExcess(book, limits, amount) !== null) {
        book.refused += 1;
        return false;
      }
      add(amount);
      return true;
    },
    release: () => add(-taken),
  };
}

function findExcess(
  book: Book,
  limits: ReturnType<typeof toLimits>,
  amount: number,
): Excess | null {
  const left = book.bound.total - totalIn(book) - amount;
  const held = limits.map(({ name }) => heldIn(book, name));
  const exceeded = limits.find(({ most }, at) => (held[at] ?? 0) + amount > most);
  if (exceeded !== undefined) return exceeded.kind;
  if (left < 0) return 'total';
  return held.some((own) => own > left) ? 'share' : null;
}

function toLimits(client: Client | null, { perAddress }: HoldingBound) {
  if (client === null) return [];
  const { address, network } = client;
  const own = { kind: 'address', name: address, most: perAddress } as const;
  const most = perAddress * addressesPerNetwork;
  return network === null ? [own] : [own, { kind: 'network', name: network, most } as const];
}
