import type { Json, Kinds } from './walk.ts';

/** What is known of the payloads of one provider. */
export interface Platform {
  readonly kinds: Kinds;
  /** Objects with every member that a schema knows, by kind. Several where members exclude each other. */
  readonly samples: readonly (readonly [kind: string, sample: Json])[];
  /** Shapes an object of a kind, as far as its parts are parsed late. */
  shape(kind: string, value: unknown): void;
  /**
   * Members that reach no answer on purpose, with the reason. A path names a kind of object and the
   * members in it; all that is below is left out as well. `*` stands for any member.
   */
  readonly leftOut: Readonly<Record<string, string>>;
  /** Members around the objects, and what they are for. */
  readonly envelope: Readonly<Record<string, string>>;
}
