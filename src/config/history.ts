import { z } from 'zod';
import { flag, wholeNumber } from './forms.ts';

/** The environment variables of the import of histories. */
export const historyVariables = z.object({
  PERCH_ARCHIVE_HISTORY: flag(false).describe(
    'Whether imported histories are kept in the archive, so that the next import only fetches the gaps.',
  ),
  PERCH_HISTORY_TIMEOUT_MS: wholeNumber(100, 3_600_000, 120_000).describe(
    'Milliseconds for one import of a history.',
  ),
  PERCH_HISTORY_CONCURRENCY: wholeNumber(1, 64, 48).describe(
    'The most pages that one import asks an upstream for at once.',
  ),
  PERCH_HISTORY_IMPORTS: wholeNumber(1, 1000, 16).describe(
    'Maximum number of imports at a time; more are answered `overloaded`.',
  ),
  PERCH_HISTORY_IMPORTS_PER_ADDRESS: wholeNumber(1, 1000, 2).describe(
    'Maximum number of them for one client address.',
  ),
});
