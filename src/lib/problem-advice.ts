import { type Problem, problemKinds } from './problem.ts';

/** Returns what a resolution says beyond the default of its code; otherwise an empty string. */
export function adviceBesides({ code, resolution }: Pick<Problem, 'code' | 'resolution'>): string {
  const { resolution: usual } = problemKinds[code];
  return resolution.startsWith(usual) ? resolution.slice(usual.length).trim() : '';
}
