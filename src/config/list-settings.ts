import { z } from 'zod';
import { type Config, toDerivedDefaults, variables } from './config.ts';
import { limitVariables } from './limits.ts';
import { modelVariables } from './model.ts';
import { isSecretVariable } from './secrets.ts';
import { sessionVariables } from './sessions.ts';
import { engineVariables } from './shared-engine.ts';

/** Part of the configuration to which a variable belongs. */
export type SettingArea = 'general' | 'sharedEngine' | 'limits' | 'model' | 'sessions';

/** Effective value of an environment variable, in a form that is safe to show. */
export interface Setting {
  readonly name: string;
  readonly area: SettingArea;
  /** Value as it would be written in the environment; `null` if it is not set, or secret. */
  readonly value: string | null;
  /** Whether the variable has a value, which may be the default. */
  readonly isSet: boolean;
  /** Whether the value is a secret, so that `value` is always `null`. */
  readonly isSecret: boolean;
  /** Default value; `null` if there is none, or if it depends on the environment of the process. */
  readonly default: string | null;
  readonly isDefault: boolean;
  /** Meaning of the variable, with names in backticks. */
  readonly description: string;
}

/** Lists the effective configuration, without the values of secrets, in the order of `docs/configuration.md`. */
export function listSettings(config: Config): readonly Setting[] {
  const values: Readonly<Record<string, unknown>> = config;
  const derived: Readonly<Record<string, unknown>> = toDerivedDefaults(config);
  return Object.entries(variables.shape).map(([name, schema]) => {
    const isSecret = isSecretVariable(name);
    const value = writeValue(values[name]);
    const byDefault = writeValue(derived[name] ?? defaultOf(schema));
    return {
      name,
      area: areaOf(name),
      value: isSecret ? null : value,
      isSet: value !== null,
      isSecret,
      default: byDefault,
      isDefault: value === byDefault,
      description: schema.description ?? '',
    };
  });
}

const areas: Readonly<Record<Exclude<SettingArea, 'general'>, z.ZodObject>> = {
  sharedEngine: engineVariables,
  limits: limitVariables,
  model: modelVariables,
  sessions: sessionVariables,
};

function areaOf(name: string): SettingArea {
  const found = Object.entries(areas).find(([, { shape }]) => Object.hasOwn(shape, name));
  return (found?.[0] as SettingArea | undefined) ?? 'general'; // a key of `areas`
}

/** Returns the default value of a variable's schema; `undefined` if the variable has no fixed default. */
export function defaultOf(schema: z.ZodType): unknown {
  return schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
}

/** Writes a value as in the environment; returns `null` for `undefined` and for an empty list. */
export function writeValue(value: unknown): string | null {
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.length === 0 ? null : value.join(',');
  return String(value);
}
