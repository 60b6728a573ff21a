import type { DocSummary } from './doc-summaries.ts';
import type { OpenApiFacts } from './openapi-facts.ts';

/** What the discovery documents are made of, beside the tables of this folder. */
export interface DiscoveryFacts extends Omit<OpenApiFacts, 'nowMs'> {
  readonly contacts: Contacts;
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
