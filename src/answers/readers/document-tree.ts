/** A value of a JSON or YAML document, with the line on which it begins, from 1. */
export type DocumentNode = { readonly line: number } & (
  | { readonly kind: 'scalar'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly DocumentNode[] }
  | { readonly kind: 'map'; readonly entries: ReadonlyMap<string, DocumentEntry> }
);

/** A member of a map, with the line of its name. */
export interface DocumentEntry {
  readonly key: string;
  readonly line: number;
  readonly value: DocumentNode | undefined;
}

/** Returns the value below these keys. */
export function nodeAt(
  node: DocumentNode | undefined,
  ...keys: readonly string[]
): DocumentNode | undefined {
  let here = node;
  for (const key of keys) here = here?.kind === 'map' ? here.entries.get(key)?.value : undefined;
  return here;
}

/** Returns the text below these keys; empty if there is none. */
export function textAt(node: DocumentNode | undefined, ...keys: readonly string[]): string {
  const found = nodeAt(node, ...keys);
  return found?.kind === 'scalar' ? found.text : '';
}

/** Returns the members of a map; none of anything else. */
export function entriesOf(node: DocumentNode | undefined): readonly DocumentEntry[] {
  return node?.kind === 'map' ? [...node.entries.values()] : [];
}

/** Returns the values of a list; none of anything else. */
export function itemsOf(node: DocumentNode | undefined): readonly DocumentNode[] {
  return node?.kind === 'list' ? node.items : [];
}

/** A line break, a mark, a string, or any other value. */
const tokens = /\n|[{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}[\],:"]+/g;

/** A list or a map that is not closed yet. */
interface Open {
  readonly items: DocumentNode[];
  /** `null` for a list. */
  readonly entries: Map<string, DocumentEntry> | null;
  /** The name that waits for its value. */
  name: { readonly key: string; readonly line: number } | null;
}

/**
 * Parses JSON with its lines, which `JSON.parse` does not provide. Depth is bounded by memory alone.
 *
 * @throws SyntaxError for anything but JSON.
 */
export function parseJsonTree(source: string): DocumentNode | undefined {
  JSON.parse(source);
  const top: Open = { items: [], entries: null, name: null };
  const stack = [top];
  let line = 1;
  for (const [token] of source.matchAll(tokens)) {
    if (token === '\n') line += 1;
    else takeToken(stack, token, line);
  }
  return top.items[0];
}

function takeToken(stack: Open[], token: string, line: number): void {
  const open = stack.at(-1);
  if (open === undefined || token === ',' || token === ':') return;
  if (token === '}' || token === ']') stack.pop();
  else if (token === '{' || token === '[') stack.push(openIn(open, token, line));
  else addText(open, toText(token), line);
}

function openIn(outer: Open, mark: '{' | '[', line: number): Open {
  const items: DocumentNode[] = [];
  const entries = new Map<string, DocumentEntry>();
  const isMap = mark === '{';
  place(outer, isMap ? { kind: 'map', line, entries } : { kind: 'list', line, items });
  return { items, entries: isMap ? entries : null, name: null };
}

function addText(open: Open, text: string, line: number): void {
  if (open.entries !== null && open.name === null) open.name = { key: text, line };
  else place(open, { kind: 'scalar', line, text });
}

function place(open: Open, value: DocumentNode): void {
  if (open.entries === null) open.items.push(value);
  else if (open.name !== null) {
    open.entries.set(open.name.key, { ...open.name, value });
    open.name = null;
  }
}

function toText(token: string): string {
  if (!token.startsWith('"')) return token;
  return token.includes('\\') ? JSON.parse(token) : token.slice(1, -1);
}
