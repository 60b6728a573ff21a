import type { JsonSchema } from '../core/json-schema.ts';
import { handleParam } from '../reads/browse.ts';
import { describeParametersOf } from '../reads/describe.ts';
import { type AnyReadId, allReads } from '../reads/index.ts';
import type { ReadChoice, Route } from './routes.ts';

/** A parameter of an operation (OpenAPI 3.1 §4.8.12). */
export interface ParameterObject {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
}

type Described = Pick<ParameterObject, 'description' | 'schema'>;

/** The parameters that can stand in a path, where they alone name what is read. */
const pathParameters: Readonly<Record<string, Described>> = {
  handle: { description: handleParam.description ?? '', schema: { type: 'string' } },
  id: { description: 'The post’s id.', schema: { type: 'string' } },
  n: {
    description: 'The number of a photo or video of the post. The post is read whatever it is.',
    schema: { type: 'integer', minimum: 1, maximum: 99 },
  },
};

/** Gives the parameters of a route, those of the path first. */
export function describeParameters({ path, read }: Route): readonly ParameterObject[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const inQuery = typeof read === 'string' ? listOf(read) : listOfChoice(read);
  return [
    ...inPath.map((name) => toPathParameter(path, name)),
    ...inQuery.filter(
      // A path that names the post is not overruled by `url`.
      ({ name }) => !inPath.includes(name) && !(name === 'url' && inPath.includes('id')),
    ),
  ];
}

function toPathParameter(path: string, name: string): ParameterObject {
  const described = pathParameters[name];
  if (described === undefined)
    throw new Error(`The parameter ${name} of ${path} is not described.`);
  return { name, in: 'path', required: true, ...described };
}

/** Gives the parameters of a read as they stand in a query. */
function listOf(read: AnyReadId): readonly ParameterObject[] {
  return describeParametersOf(allReads[read]).map(({ name, ...one }) => ({
    name,
    in: 'query',
    ...one,
  }));
}

/** Gives the parameter that names the read, and after it those of every read that it can name. */
function listOfChoice({ parameter, reads: named }: ReadChoice): readonly ParameterObject[] {
  const values = Object.keys(named);
  const choice: ParameterObject = {
    name: parameter,
    in: 'query',
    required: true,
    description: 'What is read.',
    schema: { type: 'string', enum: values },
  };
  const lists = Object.values(named).map(listOf);
  const others = new Map(lists.flat().map((one) => [one.name, one] as const));
  return [
    choice,
    ...[...others.values()].map((one) => {
      const takers = values.filter((_, index) =>
        lists[index]?.some(({ name }) => name === one.name),
      );
      return { ...one, required: false, description: tellTakers(one, takers, values) };
    }),
  ];
}

/** Says which reads take a parameter, where not all of them do. */
function tellTakers(
  { description }: ParameterObject,
  takers: readonly string[],
  all: readonly string[],
): string {
  if (takers.length === all.length) return description;
  return `${description} Only for ${takers.map((value) => `\`${value}\``).join(', ')}.`;
}
