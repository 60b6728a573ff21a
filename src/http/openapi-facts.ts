/** What the machine description depends on, beside the tables. */
export interface OpenApiFacts {
  /** Perch's own address, without a trailing slash. */
  readonly baseUrl: string;
  /** The version of Perch. */
  readonly version: string;
  /** The moment whose lifecycle states are told; null leaves them out. */
  readonly nowMs: number | null;
  /** Whether crawlers of link previews get a page of their own at the permalinks of posts. */
  readonly linkPreviews: boolean;
}
