import type { z } from 'zod';
import { type JsonSchema, refer, toReplySchemas } from '../core/json-schema.ts';

/** A schema of an object, as a tool's arguments and structured content have it. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/**
 * Returns the schema of a tool's structured content: the body of the read, or a problem document.
 *
 * Clients fetch it with every list of tools and put it before a language model, so it is an outline: the
 * members of the body, of posts and of accounts with their types, without descriptions. `/openapi.json` has
 * the whole schema. The protocol wants an object at the root, and clients validate results with `isError` as well.
 */
export function describeOutput(reply: z.ZodType, problem: z.ZodType): ObjectSchema {
  const named = toReplySchemas([reply, problem]);
  const body = find(named, refer(reply));
  const kept = namesIn(named, body);
  const toOutline = createOutline(named, kept);
  const { required: requiredByProblem } = find(named, refer(problem));
  return {
    ...toOutline(body),
    type: 'object',
    anyOf: [{ required: body.required }, { required: requiredByProblem }],
    $defs: Object.fromEntries(kept.map((name) => [name, toOutline(named[name] ?? {})])),
  };
}

type NamedSchemas = Readonly<Record<string, JsonSchema>>;

/** Creates the function that returns an object's members with their types, and nothing below them. */
function createOutline(named: NamedSchemas, kept: readonly string[]) {
  const outlineMember = (schema: JsonSchema): JsonSchema => {
    const name = nameOf(schema);
    if (name !== null && kept.includes(name)) return { $ref: `#/$defs/${name}` };
    const types = typesOf(named, schema);
    const type = types.length === 1 ? { type: types[0] } : { type: types };
    const items = schema.items as JsonSchema | undefined;
    return items === undefined ? type : { ...type, items: outlineMember(items) };
  };
  return (schema: JsonSchema): JsonSchema => {
    const members = branchesOf(named, schema).flatMap(({ properties = {} }) =>
      Object.entries(properties as NamedSchemas),
    );
    const outlined = members.map(([name, member]) => [name, outlineMember(member)] as const);
    return { type: 'object', properties: Object.fromEntries(outlined) };
  };
}

/** Returns the names of the schemas that the members of an object refer to: those of posts and accounts. */
function namesIn(named: NamedSchemas, body: JsonSchema): readonly string[] {
  const members = Object.values((body.properties ?? {}) as NamedSchemas);
  const names = members.flatMap((member) => {
    const name = nameOf((member.items as JsonSchema | undefined) ?? member);
    return name === null || named[name] === undefined ? [] : [name];
  });
  return [...new Set(names)];
}

/** Returns the alternatives of a schema; itself where it has none. */
function branchesOf(named: NamedSchemas, schema: JsonSchema): readonly JsonSchema[] {
  const found = find(named, schema);
  const branches = (found.anyOf ?? found.oneOf) as readonly JsonSchema[] | undefined;
  return branches?.flatMap((branch) => branchesOf(named, branch)) ?? [found];
}

function typesOf(named: NamedSchemas, schema: JsonSchema): readonly unknown[] {
  return [...new Set(branchesOf(named, schema).flatMap(({ type }) => type ?? []))];
}

const reference = /^#\/components\/schemas\/(\w+)$/;

function nameOf({ $ref }: JsonSchema): string | null {
  return reference.exec(String($ref))?.[1] ?? null;
}

function find(named: NamedSchemas, schema: JsonSchema): JsonSchema {
  const name = nameOf(schema);
  return name === null ? schema : (named[name] ?? {});
}
