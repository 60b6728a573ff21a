import { parseEnv } from 'node:util';
import { readBoundedText, UnusableTextError } from '../lib/files/bounded-text.ts';
import { nearestName } from '../lib/suggest.ts';
import type { Origin, SetOrigin } from './shown-settings.ts';

/** Defaults of `HOST` and `PORT`, without imports of schemas: `perch health` starts quickly. */
export const listenDefaults = { host: '127.0.0.1', port: 8080 } as const;

const maxSecretBytes = 16_384;

export interface Setting<From = Origin> {
  readonly value: string;
  readonly origin: From;
}

/** Settings by variable name, without empty values. */
export type Settings = ReadonlyMap<string, Setting>;

/** Sources of settings, from the highest to the lowest priority. */
export interface SettingSources {
  /** Values of command-line options, by the name of the variable that each option overrides. */
  readonly options?: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Value of the option `--config`. Default: the path in `PERCH_CONFIG`. */
  readonly configFile?: string | undefined;
}

/** Error message, and the names of the variables that have no usable value because of the error. */
export interface SettingFault {
  readonly names: readonly string[];
  readonly message: string;
}

/** Returns the name of the variable that contains the path of the file with the secret `name`. */
export const fileVariableOf = (name: string): string => `${name}_FILE`;

/** Merges the settings file and all other sources, and reads the files of `secrets`. */
export function gatherSettings(
  { options = {}, env, configFile }: SettingSources,
  secrets: readonly string[],
): { readonly settings: Settings; readonly faults: readonly SettingFault[] } {
  const { lines, faults: fileFaults, path } = readConfigFile(env, configFile);
  const fromFile = lines.map(({ name, value, line }): [string, Setting<SetOrigin>] => [
    name,
    { value, origin: { kind: 'file', path, line } },
  ]);
  const fromEnv = toSettings(env, () => ({ kind: 'environment' }));
  const fromOptions = toSettings(options, (name) => ({
    kind: 'option',
    option: `--${name.toLowerCase()}`,
  }));
  const faults: SettingFault[] = fileFaults.map((message) => ({ names: [], message }));
  const merged = new Map<string, Setting<SetOrigin>>();
  for (const layer of [fromFile, fromEnv, fromOptions]) {
    const set = new Map(layer.filter(([, { value }]) => value !== ''));
    faults.push(...removePairs(set, secrets));
    overrideSecrets(merged, set, secrets);
    for (const [name, setting] of set) merged.set(name, setting);
  }
  const read = readSecretFiles(merged, secrets);
  for (const name of secrets) merged.delete(fileVariableOf(name));
  return {
    settings: new Map([...merged, ...read.settings]),
    faults: [...faults, ...read.faults],
  };
}

function readConfigFile(env: SettingSources['env'], configFile: string | undefined) {
  const path = configFile ?? (env.PERCH_CONFIG || undefined);
  if (path === undefined) return { lines: [], faults: [], path: '' };
  const variable = configFile === undefined ? 'PERCH_CONFIG' : '--config';
  return { ...readSettingsFile(path, variable), path };
}

function toSettings(
  values: Readonly<Record<string, string | undefined>>,
  originOf: (name: string) => SetOrigin,
): [string, Setting<SetOrigin>][] {
  return Object.entries(values).map(([name, value = '']) => [
    name,
    { value, origin: originOf(name) },
  ]);
}

function removePairs(set: Map<string, Setting>, secrets: readonly string[]): SettingFault[] {
  const pairs = secrets.filter((name) => set.has(name) && set.has(fileVariableOf(name)));
  return pairs.map((name) => {
    set.delete(name);
    set.delete(fileVariableOf(name));
    const message = `${name} and ${fileVariableOf(name)} are both set. Remove one of them.`;
    return { names: [name], message };
  });
}

function overrideSecrets(
  weaker: Map<string, Setting>,
  stronger: Settings,
  secrets: readonly string[],
): void {
  for (const name of secrets) {
    if (!stronger.has(name) && !stronger.has(fileVariableOf(name))) continue;
    weaker.delete(name);
    weaker.delete(fileVariableOf(name));
  }
}

function readSecretFiles(
  merged: ReadonlyMap<string, Setting<SetOrigin>>,
  secrets: readonly string[],
) {
  const settings = new Map<string, Setting>();
  const faults: SettingFault[] = [];
  for (const name of secrets) {
    const variable = fileVariableOf(name);
    const setting = merged.get(variable);
    if (setting === undefined) continue;
    const { value: path, origin: from } = setting;
    try {
      settings.set(name, { value: readSecret(path), origin: { kind: 'secret_file', path, from } });
    } catch (error) {
      if (!(error instanceof UnusableTextError)) throw error;
      faults.push({ names: [name], message: describeSecretFault(variable, path, error.reason) });
    }
  }
  return { settings, faults };
}

function readSecret(path: string): string {
  const text = readBoundedText(path, maxSecretBytes).replace(/\r?\n$/, '');
  if (text === '') throw new UnusableTextError('is empty');
  if (/[\r\n]/.test(text)) throw new UnusableTextError('has more than one line');
  return text;
}

function describeSecretFault(variable: string, path: string, reason: string): string {
  // A text that is not clearly a path may be the secret itself, set by mistake.
  const isPath = reason !== 'does not exist' || /^\/[^/]+\//.test(path);
  const file = isPath ? `is ${JSON.stringify(path)}, but this file` : 'is set to a file that';
  return `${variable} ${file} ${reason}. Set it to the path of a file that contains only the secret.`;
}

/** Returns a name with its source for messages, such as `PORT in perch.env (line 3)`. */
export function labelOf(name: string, origin: Origin): string {
  if (origin.kind === 'option') return origin.option;
  if (origin.kind === 'file') return `${name} in ${origin.path} (line ${origin.line})`;
  return origin.kind === 'secret_file' ? `${name} in ${origin.path}` : name;
}

/** Returns a warning. `label`: see `labelOf`. `known`: names of all settings. */
export function describeUnknown(name: string, label: string, known: readonly string[]): string {
  const near = findNear(name, known);
  const advice = near === undefined ? 'Check the spelling.' : `Did you mean ${near}?`;
  return `${label} is set, but Perch has no such variable. ${advice}`;
}

function findNear(name: string, known: readonly string[]): string | undefined {
  const other = name.startsWith('PERCH_') ? name.slice('PERCH_'.length) : `PERCH_${name}`;
  if (known.includes(other)) return other;
  const whole = name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : name;
  if (known.includes(whole)) return whole;
  const lower = known.map((one) => one.toLowerCase());
  return nearestName(name, lower)?.toUpperCase();
}

const maxFileBytes = 262_144;

/** Reads a file of `NAME=value` lines. `variable`: source of `path`, for the error message. */
function readSettingsFile(path: string, variable: string): ReturnType<typeof parseSettings> {
  try {
    return parseSettings(readBoundedText(path, maxFileBytes), path);
  } catch (error) {
    if (!(error instanceof UnusableTextError)) throw error;
    const fault = `${variable} is ${JSON.stringify(path)}, but this file ${error.reason}. Set it to a file with NAME=value lines.`;
    return { lines: [], faults: [fault] };
  }
}

/**
 * Parses lines that systemd and Node.js read alike. Lines count from 1. Messages contain no
 * (secret) values.
 */
export function parseSettings(text: string, path: string) {
  const lines: Readonly<{ name: string; value: string; line: number }>[] = [];
  const faults: string[] = [];
  const lineOf = new Map<string, number>();
  for (const [index, raw] of text.split('\n').entries()) {
    const source = raw.trim();
    if (source === '' || source.startsWith('#') || source.startsWith(';')) continue;
    const line = index + 1;
    const fault = findFault(source, lineOf);
    if (fault !== null) {
      faults.push(`${path}, line ${line}: ${fault}`);
      continue;
    }
    const [[name, value] = ['', '']] = Object.entries(parseEnv(source));
    lineOf.set(name, line);
    lines.push({ name, value: value ?? '', line });
  }
  return { lines, faults };
}

const assignment = /^([A-Za-z_]\w{0,99})=(.*)$/;
const unquoted = /^[^'"`#\\\s](?:[^'"`#\\]*[^'"`#\\\s])?$/;
const quoted = /^(?:'[^']*'|"[^"\\]*")$/;

function findFault(source: string, lineOf: ReadonlyMap<string, number>): string | null {
  if (/[^\P{Cc}\t]/u.test(source)) return 'Remove the control character.';
  const [, name, value = ''] = assignment.exec(source) ?? [];
  if (name === undefined) return describeForm(source);
  if (name === 'PERCH_CONFIG') return 'PERCH_CONFIG has no effect in a settings file. Remove it.';
  const earlier = lineOf.get(name);
  if (earlier !== undefined) {
    return `${name} is already set in line ${earlier}. Remove one of these lines.`;
  }
  if (value === '' || unquoted.test(value) || quoted.test(value)) return null;
  if (/^\s/.test(value)) return `Remove the spaces after “${name}=”.`;
  if (value.includes("'")) {
    return `The quotes in the value of ${name} are not valid. Enclose the value in double quotes, without a backslash or another double quote.`;
  }
  return `Enclose the value of ${name} in single quotes, and write a comment on a line of its own.`;
}

function describeForm(source: string): string {
  if (/^export\s/.test(source)) return 'Remove “export”.';
  if (/^\w+\s+=/.test(source)) return 'Remove the spaces before “=”.';
  return 'This line is not of the form NAME=value. Correct it, or start it with # as a comment.';
}
