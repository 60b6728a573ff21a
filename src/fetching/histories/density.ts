/** A page that was read: how many rows it had, and how long a time they fill. */
export interface MeasuredPage {
  /** The moment below which it ends, in milliseconds since the epoch. */
  readonly toMs: number;
  readonly lengthMs: number;
  readonly rows: number;
}

/** What is told of an account as a whole. */
export interface AccountPace {
  /** Rows in a millisecond; 0 where it is not told. */
  readonly rate: number;
  /** When the account was made, in milliseconds since the epoch; minus infinity where it is not told. */
  readonly joinedMs: number;
}

/** Estimates how densely an account posts. Rates are rows in a millisecond. */
export interface Density {
  /** Notes the pace of the account as a whole; its rate weighs as much as one page. */
  learn(pace: AccountPace): void;
  /** Nothing is expected from before this moment. */
  readonly joinedMs: number;
  /** Notes a page. */
  add(page: MeasuredPage): void;
  /** Gives the rate to expect below a moment; null while nothing is known. */
  rateBelow(ms: number): number | null;
  /** How many rows a page has. */
  readonly pageRows: number;
}

/** So many pages, the nearest ones, tell the rate of what lies below them: accounts post in bursts. */
const nearPages = 3;

/** What a page is taken to have before one was read (FxTwitter, section 6: 20 to 40 rows). */
const usualRows = 20;

/** Creates an estimate that knows nothing. */
export function createDensity(): Density {
  let rate: number | null = null;
  let joinedMs = Number.NEGATIVE_INFINITY;
  const pages: MeasuredPage[] = [];
  let largest = 0;
  return {
    learn: (pace) => {
      rate = pace.rate > 0 ? pace.rate : null;
      joinedMs = pace.joinedMs;
    },
    get joinedMs() {
      return joinedMs;
    },
    add: (page) => {
      largest = Math.max(largest, page.rows);
      if (page.lengthMs > 0 && Number.isFinite(page.lengthMs)) pages.push(page);
    },
    rateBelow: (ms) => {
      const near = pages
        .toSorted((a, b) => Math.abs(a.toMs - ms) - Math.abs(b.toMs - ms))
        .slice(0, nearPages);
      const prior = rate === null ? { rows: 0, ms: 0 } : { rows: usualRows, ms: usualRows / rate };
      const rows = near.reduce((sum, page) => sum + page.rows, prior.rows);
      const lengthMs = near.reduce((sum, page) => sum + page.lengthMs, prior.ms);
      return lengthMs > 0 && rows > 0 ? rows / lengthMs : null;
    },
    get pageRows() {
      return largest === 0 ? usualRows : largest;
    },
  };
}
