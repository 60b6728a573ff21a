import { Problem } from '../core/problem.ts';
import { correctionOf } from '../reads/misspelt.ts';
import { faultOf } from '../reads/parameters.ts';
import type { Read } from '../reads/read.ts';

/** The arguments of a tool call, as JSON has them. */
export type ToolArguments = Readonly<Record<string, unknown>>;

/** Arguments as a read takes them. */
export interface GivenArguments {
  readonly given: ToolArguments;
  /** The names of those that the read neither has nor warns of. */
  readonly unknown: readonly string[];
}

/** Maximum number of unknown arguments that are compared with the known ones. */
const maxCompared = 50;

/**
 * Returns the arguments of a call without those that are `null`, which counts as left out.
 *
 * @throws Problem that names the argument, for a list: to a read it is a parameter given more than once.
 */
export function readArguments({ params: { shape } }: Read, args: ToolArguments): GivenArguments {
  const entries = Object.entries(args).filter(([, value]) => value !== null);
  const names = Object.keys(shape);
  const list = names.find((name) => Array.isArray(args[name]));
  if (list !== undefined) {
    const { code, accepts } = faultOf(shape[list]);
    throw new Problem(code, {
      detail: `The parameter \`${list}\` is a list; it takes ${accepts}.`,
    });
  }
  const others = entries.map(([name]) => name).filter((name) => !Object.hasOwn(shape, name));
  return {
    given: Object.fromEntries(entries),
    unknown: others.filter(
      (name, at) => at >= maxCompared || correctionOf(name, names) === undefined,
    ),
  };
}
