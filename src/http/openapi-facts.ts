import type { AllowanceLimits } from '../access/allowances.ts';
import type { Endpoint } from '../core/endpoint.ts';
import type { RecordedExamples } from './openapi-examples.ts';

/** What the machine description depends on, beside the tables of this folder. */
export interface OpenApiFacts {
  /** Perch's own address, without a trailing slash. */
  readonly baseUrl: string;
  /** The version of Perch. */
  readonly version: string;
  /** The moment whose lifecycle states are told; null leaves them out. */
  readonly nowMs: number | null;
  /** Whether crawlers of link previews get a page of their own at the permalinks of posts. */
  readonly linkPreviews: boolean;
  /** Every route beside the reads. */
  readonly endpoints: readonly Endpoint[];
  /** How large the allowances of this server are. */
  readonly limits: AllowanceLimits;
  /** What a server with the sample answered. */
  readonly examples: RecordedExamples;
}
