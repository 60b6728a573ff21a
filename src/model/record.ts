import { z } from 'zod';

/** Creates the schema of a read-only object that documents keep under the given id. */
export const record = <Shape extends z.ZodRawShape>(id: string, shape: Shape) =>
  z.object(shape).readonly().meta({ id });

export const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();

/** A number that is `null` where the provider does not tell it. */
export const count = z.number().nullable();
export const optionalText = z.string().optional();

/** A text that is `null` where there is none, or where it is not known. */
export const maybeText = z.string().nullable();
