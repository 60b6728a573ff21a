import * as z from 'zod';

/** Creates the schema of a read-only object. OpenAPI documents refer to the schema by `id`. */
export const record = <Shape extends z.ZodRawShape>(id: string, shape: Shape) =>
  z.object(shape).readonly().meta({ id });

export const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();

/** Count; `null` if the provider does not send it. */
export const count = z.number().nullable();
export const optionalText = z.string().optional();

/** Schema of a text or `null`. The value is `null` if the text is absent or unknown. */
export const nullableText = z.string().nullable();
