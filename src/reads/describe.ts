import { type JsonSchema, toInputSchema } from '../core/json-schema.ts';
import { parameterForms } from './parameters.ts';
import type { ReadAbout } from './read.ts';

/** What a read takes, as the descriptions of the service tell it. */
export interface DescribedParameter {
  readonly name: string;
  /** Whether the read refuses to go without it. */
  readonly required: boolean;
  readonly description: string;
  /** The usual values; some parameters take others besides, such as any case. */
  readonly schema: JsonSchema;
}

/** Gives the parameters of a read, in the order of its schema. */
export function describeParametersOf({
  params,
  requires,
}: ReadAbout): readonly DescribedParameter[] {
  const { properties, required = [] } = toInputSchema(params, parameterForms);
  // The schema of an object has its members under `properties`, and lists those that it must have.
  const schemas = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
  const needed: ReadonlySet<string> = new Set([...(required as readonly string[]), ...requires]);
  return schemas.map(([name, { description = '', ...schema }]) => ({
    name,
    required: needed.has(name),
    description: String(description),
    schema,
  }));
}
