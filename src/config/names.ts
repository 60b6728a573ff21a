import { nearestName } from '../core/near-name.ts';
import type { Origin } from './sources.ts';

/** Returns a name with its source for messages, such as `PORT in perch.env (line 3)`. */
export function labelOf(name: string, origin: Origin): string {
  if (origin.kind === 'option') return origin.option;
  if (origin.kind === 'file') return `${name} in ${origin.path} (line ${origin.line})`;
  return origin.kind === 'secret_file' ? `${name} in ${origin.path}` : name;
}

/** Returns a warning. `label`: see `labelOf`. `known`: names of all settings. */
export function describeUnknown(name: string, label: string, known: readonly string[]): string {
  const near = findNear(name, known);
  const advice = near === undefined ? 'Check the spelling.' : `Did you mean ${near}?`;
  return `${label} is set, but Perch has no such variable. ${advice}`;
}

function findNear(name: string, known: readonly string[]): string | undefined {
  const other = name.startsWith('PERCH_') ? name.slice('PERCH_'.length) : `PERCH_${name}`;
  if (known.includes(other)) return other;
  const whole = name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : name;
  if (known.includes(whole)) return whole;
  const lower = known.map((one) => one.toLowerCase());
  return nearestName(name, lower)?.toUpperCase();
}
