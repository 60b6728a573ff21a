import { parseEnv } from 'node:util';
import { readBoundedText, UnusableTextError } from '../lib/files/bounded-text.ts';

const maxFileBytes = 262_144;

/** Reads a file of `NAME=value` lines. `variable`: source of `path`, for the error message. */
export function readSettingsFile(path: string, variable: string): ReturnType<typeof parseSettings> {
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
