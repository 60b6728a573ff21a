import { Problem, type ProblemCode } from '../../core/problem.ts';

/** Failures of a source, which results that are not live would stand in for. */
const ofSource: ReadonlySet<ProblemCode> = new Set([
  'upstream_error',
  'upstream_rate_limited',
  'upstream_unavailable',
]);

/**
 * Returns the error of a read that takes only live results: for each failure of a source the same code,
 * so that callers need to look for one. Other errors stay as they are.
 */
export function toNotLive(error: unknown): unknown {
  if (!(error instanceof Problem) || !ofSource.has(error.code)) return error;
  const { retryAfterSeconds } = error;
  return new Problem('upstream_unavailable', {
    detail: `There are no live results: ${error.message}`,
    cause: error,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
