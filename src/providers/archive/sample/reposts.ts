import type { AuthorName } from './cast.ts';

/** A repost of the sample. */
export interface RepostDraft {
  readonly by: AuthorName;
  /** The key of the post. */
  readonly of: string;
  /** ISO 8601, UTC, whole seconds: after the post was written. */
  readonly at: string;
}

/** Which posts of others the accounts of the sample passed on. */
export const reposts: readonly RepostDraft[] = [
  { by: 'otto', of: 'door-clock', at: '2024-09-01T06:40:02Z' },
  { by: 'faro', of: 'coffee-gif', at: '2024-11-03T21:12:40Z' },
  { by: 'minji', of: 'hostile', at: '2025-04-01T10:20:11Z' },
  { by: 'rada', of: 'glove', at: '2024-12-13T05:31:29Z' },
  { by: 'ada', of: 'names-1', at: '2025-08-13T05:58:17Z' },
  { by: 'shirin', of: 'names-1', at: '2025-08-12T21:26:03Z' },
  { by: 'bruna', of: 'english-sign', at: '2025-11-05T09:02:44Z' },
  { by: 'ada', of: 'seal', at: '2026-02-17T10:52:31Z' },
  { by: 'harbour', of: 'heron-1', at: '2026-04-18T08:00:12Z' },
  { by: 'devika', of: 'heron-1', at: '2026-04-18T07:20:39Z' },
  { by: 'unfinished-maps', of: 'ticking', at: '2025-03-18T09:30:00Z' },
];
