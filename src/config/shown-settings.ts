import { z } from 'zod';
import { redactCredentials } from '../core/redact.ts';
import { type Config, secretNames, variables } from './config.ts';
import { fileVariableOf, type Settings } from './sources.ts';

const setOrigin = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('environment') }),
  z.object({ kind: z.literal('option'), option: z.string() }),
  z.object({ kind: z.literal('file'), path: z.string(), line: z.int() }),
]);

const origin = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('default') }),
    ...setOrigin.options,
    z.object({ kind: z.literal('secret_file'), path: z.string(), from: setOrigin }),
  ])
  .describe('Place where the value was set; `from` is where the variable `NAME_FILE` was set.');

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
