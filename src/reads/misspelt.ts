import { nearestName } from '../core/near-name.ts';

/** Maximum number of unknown parameters that are checked for misspellings. */
const maxNames = 50;

/** Maximum number of warnings about misspellings in a response. */
const maxWarnings = 5;

const comparedName = /^[\w-]{1,32}$/;

/** Returns the known parameter that `name` probably misspells; `undefined` if no parameter is similar. */
export const findCorrection = (name: string, known: readonly string[]): string | undefined =>
  comparedName.test(name) ? nearestName(name, known) : undefined;

/** Returns a warning for each unknown parameter that is probably a misspelling of a known parameter. */
export function warnAboutMisspelt(
  known: readonly string[],
  given: Readonly<Record<string, unknown>>,
): readonly string[] {
  const ignored = Object.keys(given).filter((name) => !known.includes(name));
  const warnings = ignored.slice(0, maxNames).flatMap((name) => {
    const correction = findCorrection(name, known);
    if (correction === undefined) return [];
    return `The parameter \`${name}\` does not exist and was ignored; did you mean \`${correction}\`?`;
  });
  return warnings.slice(0, maxWarnings);
}
