import type { Client } from '../caller.ts';

/** Resources that a client uses while the server works for it, counted in units or bytes. */
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

/** Maximum amounts of one resource. */
export interface HoldingBound {
  readonly perAddress: number;
  readonly total: number;
}

/** Reservation of a resource for one task. Release it when the task ends. */
export interface Hold {
  /** Reserves a further amount. Returns `false`, and reserves nothing, if the amount exceeds a bound. */
  take(amount: number): boolean;
  /** Releases the whole reservation. Later calls do nothing. */
  release(): void;
}

/** Amounts of one resource that are counted outside of the ledger, for example in a database. */
export interface Account {
  heldBy(name: string): number;
  total(): number;
}

/** Bound that an amount exceeds. `share`: the client already uses more than would be left for all others. */
export type Excess = 'address' | 'network' | 'total' | 'share';

export type Ledger = ReturnType<typeof createLedger>;

/** Bound of a network (an IPv6 /48) as a multiple of the bound of one address. */
export const addressesPerNetwork = 4;

/**
 * Creates an empty ledger of the resources that clients use. It refuses an amount that exceeds the bound of the address,
 * of its network or of all clients. It also refuses an amount if the client already uses more than would be left for
 * all others, so that no client can use more than half of the total.
 */
export function createLedger(bounds: Readonly<Record<Holding, HoldingBound>>) {
  const books = new Map<Holding, Book>();
  const bookOf = (holding: Holding): Book => {
    const book = books.get(holding) ?? createBook(bounds[holding]);
    books.set(holding, book);
    return book;
  };
  return {
    /** Opens an empty reservation. `null` stands for the server's own work, which only the total bounds. */
    open: (holding: Holding, client: Client | null): Hold => openHold(bookOf(holding), client),
    /** Adds the amounts of an account to those of the reservations from now on. */
    include: (holding: Holding, account: Account): void => {
      bookOf(holding).account = account;
    },
    /** Returns the bound that a client would exceed with a further amount, or `null`. */
    findExcess: (holding: Holding, client: Client | null, amount: number): Excess | null => {
      const book = bookOf(holding);
      return findExcess(book, toLimits(client, book.bound), amount);
    },
    heldBy: (holding: Holding, name: string): number => heldIn(bookOf(holding), name),
    totalOf: (holding: Holding): number => totalIn(bookOf(holding)),
    /** Returns the number of refused amounts since the start. */
    refusedOf: (holding: Holding): number => bookOf(holding).refused,
  };
}

/** Used amounts of one resource by address and network. Addresses and networks that use nothing have no entry. */
export interface Book {
  readonly bound: HoldingBound;
  readonly held: Map<string, number>;
  total: number;
  refused: number;
  account: Account;
}

const emptyAccount: Account = { heldBy: () => 0, total: () => 0 };

/** Creates an empty record of the use of one resource, such as the requests to one host. */
export function createBook(bound: HoldingBound): Book {
  return { bound, held: new Map(), total: 0, refused: 0, account: emptyAccount };
}

const heldIn = ({ held, account }: Book, name: string) =>
  (held.get(name) ?? 0) + account.heldBy(name);

const totalIn = ({ total, account }: Book) => total + account.total();

/** Opens an empty reservation of one resource. `null` stands for the server's own work. */
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
