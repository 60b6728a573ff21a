import { parse } from '@babel/parser';

/** Regular expression, and the location in `src` where it is created. */
export interface FoundPattern {
  readonly file: string;
  readonly line: number;
  readonly source: string;
  readonly flags: string;
}

/** Location of a call of `RegExp`, which creates a regular expression from a string. */
export interface DynamicPlace {
  readonly file: string;
  readonly line: number;
}

/** Regular expressions in a source file. */
export interface PatternsInFile {
  readonly literals: readonly FoundPattern[];
  readonly dynamic: readonly DynamicPlace[];
}

/** Finds all regular expression literals and all calls of `RegExp` in a TypeScript file. */
export function findPatterns(file: string, text: string): PatternsInFile {
  const literals: FoundPattern[] = [];
  const dynamic: DynamicPlace[] = [];
  const { program } = parse(text, { sourceType: 'module', plugins: ['typescript'] });
  visit(program, (node) => {
    const line = node.loc.start.line;
    if (node.type === 'RegExpLiteral') {
      literals.push({ file, line, source: String(node.pattern), flags: String(node.flags) });
    } else if (createsPattern(node)) {
      dynamic.push({ file, line });
    }
  });
  return { literals, dynamic };
}

interface SyntaxNode {
  readonly type: string;
  readonly loc: { readonly start: { readonly line: number } };
  readonly [member: string]: unknown;
}

function createsPattern({ type, callee }: SyntaxNode): boolean {
  if (type !== 'NewExpression' && type !== 'CallExpression') return false;
  return isNode(callee) && callee.type === 'Identifier' && callee.name === 'RegExp';
}

function visit(value: unknown, onNode: (node: SyntaxNode) => void): void {
  if (isNode(value)) onNode(value);
  if (typeof value !== 'object' || value === null) return;
  for (const member of Object.values(value)) visit(member, onNode);
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'loc' in value;
}
