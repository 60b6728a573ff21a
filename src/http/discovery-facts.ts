import type { AllowanceLimits } from '../access/allowances.ts';
import type { Endpoint } from '../core/endpoint.ts';
import type { DocSummary } from './doc-summaries.ts';

/** What the discovery documents are made of, beside the tables of this folder. */
export interface DiscoveryFacts {
  /** Perch's own address, without a trailing slash. Every link is made of it. */
  readonly baseUrl: string;
  /** The version of Perch. */
  readonly version: string;
  /** The routes beside the reads, of all surfaces. */
  readonly endpoints: readonly Endpoint[];
  readonly limits: AllowanceLimits;
  readonly contacts: Contacts;
  /** Whether crawlers of link previews get a page of their own at the permalinks of posts. */
  readonly linkPreviews: boolean;
  /** Gives the pages of the documentation, in reading order; asked when a document is made. */
  pages(): readonly DocSummary[];
}

/** Where people turn to, as URIs. */
export interface Contacts {
  /** Where a human asks for a key. */
  readonly keys: string;
  /** Where a weakness is reported. */
  readonly security: string;
}
