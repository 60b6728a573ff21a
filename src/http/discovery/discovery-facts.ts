import type { OpenApiFacts } from '../openapi/document.ts';
import type { LibraryPage } from '../pages/docs/library.ts';

/** What the discovery documents are made of, beside the tables of this folder. */
export interface DiscoveryFacts extends Omit<OpenApiFacts, 'nowMs' | 'examples'> {
  readonly contacts: Contacts;
  /** Gives the pages of the documentation, in reading order; asked when a document is made. */
  pages(): readonly Pick<LibraryPage, 'name' | 'title' | 'summary'>[];
}

/** Where people turn to, as URIs. */
export interface Contacts {
  /** Where a human asks for a key. */
  readonly keys: string;
  /** Where a weakness is reported. */
  readonly security: string;
}
