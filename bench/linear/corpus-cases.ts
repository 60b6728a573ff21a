import { readFileText } from '../../src/answers/readers/reader-table.ts';
import type { Case } from './upstreams.ts';

const fill = (part: string) => (bytes: number) => part.repeat(Math.ceil(bytes / part.length));

/** Files of a corpus that are expensive to read, with the part that they repeat. */
const files: readonly (readonly [path: string, name: string, write: (bytes: number) => string])[] =
  [
    [
      'a.java',
      'decorations that look like methods',
      (bytes) => `class A {\n${fill('  @A b(\n')(bytes)}}`,
    ],
    ['a.ts', 'members of one class', (bytes) => `class A {\n${fill('  a(): void {}\n')(bytes)}}`],
    ['a.py', 'functions with open docstrings', fill('def a(\n  """ <<EOF\nEOF\n')],
    ['a.rb', 'nested blocks', (bytes) => fill('class A\n')(bytes / 2) + fill('end\n')(bytes / 2)],
    ['a.go', 'comments', fill('// a\n\nfunc a() {\n')],
    ['a.adoc', 'open blocks', fill('----\n= a\n')],
    ['a.rst', 'directives', fill('.. py:function:: a.b\n\n   c\n\n')],
  ];

export const corpusCases: readonly Case[] = files.map(([path, name, write]) => ({
  name: `corpus, ${path}: ${name}`,
  maxBytes: 524_288,
  prepare: (_seed, bytes) => {
    const text = write(bytes);
    return async () => void readFileText(path, text);
  },
}));
