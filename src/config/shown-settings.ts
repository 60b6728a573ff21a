import * as z from 'zod';
import { redactCredentials } from '../lib/redact.ts';
import { type Config, secretNames, variables } from './config.ts';
import {
  engineVariables,
  limitVariables,
  modelVariables,
  sessionVariables,
} from './settings-by-area.ts';
import { fileVariableOf, type Settings } from './sources.ts';

const setOrigin = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('environment') }),
  z.object({ kind: z.literal('option'), option: z.string() }),
  z.object({ kind: z.literal('file'), path: z.string(), line: z.int() }),
]);

export type SetOrigin = Readonly<z.output<typeof setOrigin>>;

const origin = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('default') }),
    ...setOrigin.options,
    z.object({ kind: z.literal('secret_file'), path: z.string(), from: setOrigin }),
  ])
  .describe('Place where the value was set; `from` is where the variable `NAME_FILE` was set.');

/** Source of a setting. `secret_file`: a file that contains only the secret. */
export type Origin = Readonly<Exclude<z.output<typeof origin>, { kind: 'default' }>>;

const shownSetting = z.object({
  name: z.string(),
  value: z.string().nullable().describe('Effective value; `null` if not set; masked if secret.'),
  is_secret: z.boolean(),
  source: origin,
});

/** Setting with its effective value. The value of a secret is masked. */
export type ShownSetting = z.output<typeof shownSetting>;

/** Schema of the JSON document that `perch config --json` prints. */
export const shownSettings = z.object({ settings: z.array(shownSetting).readonly() });

const mask = '********';

/** Returns all settings in the order of `docs/configuration.md`, with masked secrets. */
export function listSettings(config: Config, settings: Settings): readonly ShownSetting[] {
  const secrets = secretNames();
  const names = Object.keys(variables.shape) as (keyof Config)[]; // the schema of `Config` has the same keys
  return names.map((name) => {
    const isSecret = secrets.includes(name);
    const value = toText(config[name]);
    const source = settings.get(name)?.origin ?? { kind: 'default' as const };
    return { name, value: isSecret && value !== null ? mask : value, is_secret: isSecret, source };
  });
}

function toText(value: Config[keyof Config]): string | null {
  if (value === undefined) return null;
  return redactCredentials(Array.isArray(value) ? value.join(',') : String(value));
}

/** Describes the source of a setting, such as `environment` or `perch.env, line 3`. */
export function describeSource(source: ShownSetting['source'], name: string): string {
  if (source.kind === 'file') return `${source.path}, line ${source.line}`;
  if (source.kind === 'option') return `option ${source.option}`;
  if (source.kind !== 'secret_file') return source.kind;
  const variable = fileVariableOf(name);
  return `${source.path} (${variable}: ${describeSource(source.from, variable)})`;
}

const areas = {
  sharedEngine: engineVariables,
  limits: limitVariables,
  model: modelVariables,
  sessions: sessionVariables,
} as const satisfies Readonly<Record<string, z.ZodObject>>;

/** Group of settings. `general` contains all settings that are in no other group. */
export type SettingArea = 'general' | keyof typeof areas;

/**
 * Describes the effective settings in the order of `docs/configuration.md`. Values and defaults
 * have the format of the environment variable, and are `null` if there are none.
 */
export function describeSettings(config: Config, settings: Settings) {
  const schemas: Readonly<Record<string, z.ZodType>> = variables.shape;
  return listSettings(config, settings).map(({ name, value, source }) => ({
    name,
    area: areaOf(name),
    value: value === '' ? null : value, // '' is an empty list
    isDefault: source.kind === 'default',
    source: describeSource(source, name),
    default: defaultOf(schemas[name]),
    description: schemas[name]?.description ?? '',
  }));
}

function areaOf(name: string): SettingArea {
  const found = Object.entries(areas).find(([, { shape }]) => Object.hasOwn(shape, name));
  return (found?.[0] as keyof typeof areas | undefined) ?? 'general'; // a key of `areas`
}

/** Returns a fixed default in the format of the environment variable; `null` if there is none. */
export function defaultOf(schema: z.ZodType | undefined): string | null {
  if (!(schema instanceof z.ZodDefault)) return null;
  const value: unknown = schema.def.defaultValue;
  if (Array.isArray(value)) return value.length === 0 ? null : value.join(',');
  return String(value);
}
