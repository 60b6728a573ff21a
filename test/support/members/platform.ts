import type { Json, Kinds } from './walk.ts';

/** Description of the payloads of a provider. */
export interface Platform {
  readonly kinds: Kinds;
  /** Objects with all members of a schema, by kind. Members that exclude each other are in separate objects. */
  readonly samples: readonly (readonly [kind: string, sample: Json])[];
  /** Shapes an object of a kind, to parse the parts that are parsed lazily. */
  shape(kind: string, value: unknown): void;
  /**
   * Members that are deliberately not part of any result, each with the reason. A path consists of a kind
   * of object and member names, and includes everything below it. `*` matches any member.
   */
  readonly leftOut: Readonly<Record<string, string>>;
  /** Members outside of the objects, each with its purpose. */
  readonly envelope: Readonly<Record<string, string>>;
}

/** Returns the reasons by path from the paths, separated by spaces, of each reason. */
export function byReason(
  paths: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(paths).flatMap(([reason, of]) => of.split(' ').map((path) => [path, reason])),
  );
}
