import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { type Fence, isShown, listFences } from '../support/doc-examples.ts';
import { listen } from '../support/listen.ts';
import { createScriptedEngine } from '../support/scripted-engine.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const run = promisify(execFile);
const client = resolve('clients/typescript/src/index.ts');

/** Program on a page, with the output that the page shows after it, if any. */
interface Program {
  readonly path: string;
  readonly line: number;
  readonly code: string;
  readonly output: string | null;
}

const programs = ['docs/client.md', 'clients/typescript/README.md'].flatMap(listPrograms);

function listPrograms(path: string): readonly Program[] {
  const fences = listFences(readFileSync(path, 'utf8'));
  return fences.flatMap((fence: Fence, index) => {
    const next = fences[index + 1];
    const output = next?.language === 'text' ? next.text : null;
    return fence.language === 'ts' ? { path, line: fence.line, code: fence.text, output } : [];
  });
}

describe('the programs in the documentation of the client', () => {
  it.each(programs)('$path line $line', async ({ code, output }) => {
    const env = { PERCH_SESSIONS: 'on', PERCH_PROVIDERS: 'archive' };
    const { url } = await listen(env, { engine: createScriptedEngine() });
    const outfile = join(temporaryFolder(), 'program.mjs');
    // The URLs of posts in the sample keep the address of the default settings.
    const contents = code.replaceAll("baseUrl: 'http://localhost:8080'", `baseUrl: '${url}'`);
    await build({
      stdin: { contents, loader: 'ts', resolveDir: '.' },
      alias: { 'perch-client': client },
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      target: 'es2022',
      outfile,
    });

    const { stdout } = await run(process.execPath, [outfile], { timeout: 60_000 });

    if (output === null) expect(stdout).not.toBe('');
    else if (!isShown(output, stdout)) expect(stdout).toBe(output);
  });

  it('have correct types', async () => {
    const folder = temporaryFolder();
    const files = programs.map(({ code }, index) => {
      const name = `program-${index}.ts`;
      writeFileSync(join(folder, name), code);
      return name;
    });
    const compilerOptions = {
      paths: { 'perch-client': [client] },
      typeRoots: [resolve('node_modules/@types')],
    };
    const config = { extends: resolve('tsconfig.json'), compilerOptions, include: [], files };
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));

    const checked = run(resolve('node_modules/.bin/tsc'), ['-p', folder]).catch((error) => error);

    expect((await checked).stdout).toBe('');
  });

  it('are all found by the test', () => {
    expect(programs.length).toBeGreaterThan(8);
  });
});
