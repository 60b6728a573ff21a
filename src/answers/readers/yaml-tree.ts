import { isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import type { DocumentEntry, DocumentNode } from './document-tree.ts';

/** Takes YAML apart with its lines. What is no YAML is taken as far as it can be; aliases are left out. */
export function parseYamlTree(source: string): DocumentNode | undefined {
  const lines = new LineCounter();
  const { contents } = parseDocument(source, { lineCounter: lines, logLevel: 'silent' });
  return toTree(contents, lines);
}

function toTree(node: unknown, lines: LineCounter): DocumentNode | undefined {
  const line = lineOf(node, lines);
  if (isScalar(node)) return { kind: 'scalar', line, text: String(node.value) };
  if (isSeq(node)) {
    const items = node.items.flatMap((item) => toTree(item, lines) ?? []);
    return { kind: 'list', line, items };
  }
  if (!isMap(node)) return undefined;
  const entries = node.items.map((pair) => toEntry(pair, lines));
  return { kind: 'map', line, entries: new Map(entries.map((entry) => [entry.key, entry])) };
}

function toEntry({ key, value }: Pair, lines: LineCounter): DocumentEntry {
  return {
    key: isScalar(key) ? String(key.value) : '',
    line: lineOf(key, lines),
    value: toTree(value, lines),
  };
}

function lineOf(node: unknown, lines: LineCounter): number {
  const [offset = 0] = (node as Partial<Node> | null)?.range ?? [];
  return Math.max(1, lines.linePos(offset).line);
}
