import { type Problem, problemKinds } from './problem.ts';

/**
 * Returns what a resolution says in addition to the default of its code, such as what can be read during an outage; an
 * empty string if it says nothing more.
 */
export function adviceBesides({ code, resolution }: Pick<Problem, 'code' | 'resolution'>): string {
  const { resolution: usual } = problemKinds[code];
  return resolution.startsWith(usual) ? resolution.slice(usual.length).trim() : '';
}
