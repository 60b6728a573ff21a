import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import type { TestContext } from 'vitest';
import { parseDocument } from 'yaml';
import { createSelfSigned } from './self-signed.ts';
import { temporaryFolder } from './spawn-perch.ts';

export interface Checker {
  /** Program that the check runs; the check is skipped if the program is not on `PATH`. */
  readonly program?: string;
  /** Returns the faults of a block; an empty text if there are none. */
  readonly findFaults: (text: string) => string;
}

/** Checks of the configuration files and programs in the documentation, by the language of the code block. */
export const checkers: Readonly<Record<string, Checker>> = {
  json: { findFaults: findJsonFaults },
  yaml: { findFaults: (text) => parseDocument(text).errors.join('\n') },
  ini: { findFaults: findIniFaults },
  toml: { findFaults: findTomlFaults },
  ts: { findFaults: findTypeScriptFaults },
  js: { findFaults: (text) => run(process.execPath, '--check', save('example.mjs', text)) },
  python: {
    program: 'python3',
    findFaults: (text) => run('python3', '-m', 'py_compile', save('example.py', text)),
  },
  nginx: { program: 'nginx', findFaults: findNginxFaults },
  caddyfile: { program: 'caddy', findFaults: findCaddyFaults },
};

export function getChecker(language: string): Checker {
  const checker = checkers[language];
  if (checker === undefined) throw new Error(`There is no check for ${language}.`);
  return checker;
}

/**
 * Skips the test if a program is not on `PATH`. With `PERCH_PROGRAMS_REQUIRED=1`, which `scripts/check-deployment.sh`
 * sets, the test fails instead.
 */
export function requireProgram(program: string, skip: TestContext['skip']): void {
  if (spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program]).status === 0) return;
  const fault = `${program} is not on PATH`;
  if (process.env.PERCH_PROGRAMS_REQUIRED === '1') throw new Error(fault);
  skip(fault);
}

/** Writes a file into a folder of its own, and returns its path. */
export function save(name: string, text: string): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
}

/** Runs a program. Returns its output if it failed; otherwise an empty text. */
export function run(program: string, ...args: readonly string[]): string {
  const home = temporaryFolder();
  const env = { PATH: process.env.PATH ?? '', HOME: home, PYTHONPYCACHEPREFIX: home };
  const { status, error, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env });
  if (status === 0) return '';
  return `${program}: ${error?.message ?? `exit code ${status}`}\n${stdout}${stderr}`;
}

function findJsonFaults(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return String(error);
  }
}

/** Checks units of systemd and files of environment variables: sections, pairs, comments and empty lines. */
function findIniFaults(text: string): string {
  const isKnown = (line: string) => /^(?:|[#;].*|\[[\w-]+\]|[\w-]+=.*)$/.test(line);
  return text
    .split('\n')
    .filter((line) => !isKnown(line))
    .join('\n');
}

/** Checks the part of TOML that the documentation uses: sections, and pairs with strings, lists and inline tables. */
function findTomlFaults(text: string): string {
  const isKnown = (line: string) =>
    /^(?:|#.*|\[[\w.-]+\]|[\w-]+ = (?:"[^"]*"|\[.*\]|\{.*\}))$/.test(line);
  return text
    .split('\n')
    .filter((line) => !isKnown(line))
    .join('\n');
}

function findTypeScriptFaults(text: string): string {
  try {
    transformSync(text, { loader: 'ts', format: 'esm', logLevel: 'silent' });
    return '';
  } catch (error) {
    return String(error);
  }
}

/** Checks servers with nginx, on ports that need no privileges. Returns the faults. */
export function findNginxFaults(text: string): string {
  const folder = temporaryFolder();
  const servers = text.replaceAll(/(?<=listen (?:\[::\]:)?)(?=(?:80|443)\b)/g, '10');
  const file = save('nginx.conf', toNginxFile(folder, servers));
  return run('nginx', '-t', '-q', '-p', folder, '-e', 'stderr', '-c', file);
}

/** Returns a complete configuration with the given servers. nginx writes only to `folder`, which has a certificate. */
export function toNginxFile(folder: string, servers: string): string {
  const { key, cert } = createSelfSigned('perch.example.org');
  writeFileSync(join(folder, 'privkey.pem'), key);
  writeFileSync(join(folder, 'fullchain.pem'), cert);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n');
  const http = servers.replaceAll(/\/etc\/letsencrypt\/live\/[\w.-]+/g, folder);
  return `pid ${folder}/nginx.pid;\nevents {}\nhttp {\n${temporary}\naccess_log off;\n${http}\n}\n`;
}

/** Loads a configuration with Caddy, which does not serve it. Returns the faults. */
export function findCaddyFaults(text: string): string {
  const file = save('Caddyfile', `${text}\n`);
  return run('caddy', 'validate', '--adapter', 'caddyfile', '--config', file);
}
