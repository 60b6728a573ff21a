import { z } from 'zod';

/** Gives the form of a variable that is a whole number between two others, both included. */
export const wholeNumberFrom = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((n) => n >= least && n <= most, `must be a whole number from ${least} to ${most}`);

/** The same with a default. */
export const wholeNumber = (least: number, most: number, byDefault: number) =>
  wholeNumberFrom(least, most).default(byDefault);

/** Gives the form of a variable that is true or false, in the usual words. */
export const flag = (byDefault: boolean) =>
  z
    .enum(['true', 'false', '1', '0', 'yes', 'no', 'on', 'off'], 'must be true or false')
    .transform((value) => ['true', '1', 'yes', 'on'].includes(value))
    .default(byDefault);
