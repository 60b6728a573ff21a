import { z } from 'zod';
import { type Config, variables } from './config.ts';
import { limitVariables } from './limits.ts';
import { modelVariables } from './model.ts';
import { sessionVariables } from './sessions.ts';
import { engineVariables } from './shared-engine.ts';
import { describeSource, listSettings } from './shown-settings.ts';
import type { Settings } from './sources.ts';

/** Effective setting with its description. The value of a secret is masked. */
export interface DescribedSetting {
  readonly name: string;
  readonly area: SettingArea;
  /** Value in the format of the environment variable; `null` if the setting has no value. */
  readonly value: string | null;
  readonly isDefault: boolean;
  /** Source of the value, such as `environment`. */
  readonly source: string;
  /** Fixed default; `null` if there is none, or if it depends on other settings. */
  readonly default: string | null;
  /** Description of the setting in Markdown. */
  readonly description: string;
}

const areas = {
  sharedEngine: engineVariables,
  limits: limitVariables,
  model: modelVariables,
  sessions: sessionVariables,
} as const satisfies Readonly<Record<string, z.ZodObject>>;

/** Group of settings. `general` contains all settings that are in no other group. */
export type SettingArea = 'general' | keyof typeof areas;

/** Lists the effective settings in the order of `docs/configuration.md`, with masked secrets. */
export function describeSettings(config: Config, settings: Settings): readonly DescribedSetting[] {
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
