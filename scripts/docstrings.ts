import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Documentation comment with the line of code that follows it. */
export interface Docstring {
  readonly path: string;
  /** Line in which the comment starts, counted from 1. */
  readonly line: number;
  /** Text of the comment on one line, without the comment markers. */
  readonly text: string;
  readonly declares: string;
}

/** Lists the docstrings of the TypeScript files in `src`, `clients`, `bench` and `scripts`. */
export function listDocstrings(): readonly Docstring[] {
  return ['src', 'clients', 'bench', 'scripts'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => docstringsOf(join(folder, name))),
  );
}

function docstringsOf(path: string): readonly Docstring[] {
  const source = readFileSync(path, 'utf8');
  return [...source.matchAll(/^[ \t]*\/\*\*([\s\S]*?)\*\/[ \t]*\n?[ \t]*(.*)/gm)].map((match) => {
    const [, body = '', declares = ''] = match;
    const text = body.replaceAll(/\n\s*\*?/g, ' ').replaceAll(/\s+/g, ' ');
    const line = source.slice(0, match.index).split('\n').length;
    return { path, line, text: text.trim(), declares: declares.trim() };
  });
}
