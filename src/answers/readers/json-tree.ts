import type { DocumentEntry, DocumentNode } from './document-tree.ts';

/** A line break, a mark, a string, or any other value; what lies between is blank. */
const tokens = /\n|[{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}[\],:"]+/g;

/**
 * Takes JSON apart with its lines, which `JSON.parse` does not tell; it says whether the text is
 * JSON at all. Depth is bounded by memory alone.
 *
 * @throws SyntaxError for anything but JSON.
 */
export function parseJsonTree(source: string): DocumentNode | undefined {
  JSON.parse(source);
  const builder = createBuilder();
  let line = 1;
  for (const [token] of source.matchAll(tokens)) {
    if (token === '\n') line += 1;
    else takeToken(builder, token, line);
  }
  return builder.root();
}

function takeToken(builder: ReturnType<typeof createBuilder>, token: string, line: number): void {
  switch (token) {
    case '{':
    case '[':
      builder.open(token, line);
      break;
    case '}':
    case ']':
      builder.close();
      break;
    case ',':
    case ':':
      break;
    default:
      builder.add(token, line);
  }
}

interface Open {
  readonly list: DocumentNode[];
  readonly entries: Map<string, DocumentEntry> | null;
  /** The name that waits for its value. */
  name: { readonly key: string; readonly line: number } | null;
}

function createBuilder() {
  const top: Open = { list: [], entries: null, name: null };
  const stack: Open[] = [top];
  const place = (node: DocumentNode) => {
    const open = stack.at(-1) ?? top;
    if (open.entries === null) open.list.push(node);
    else if (open.name !== null) {
      open.entries.set(open.name.key, { ...open.name, value: node });
      open.name = null;
    }
  };
  return {
    open: (mark: '{' | '[', line: number) => {
      const items: DocumentNode[] = [];
      const entries = new Map<string, DocumentEntry>();
      const isMap = mark === '{';
      place(isMap ? { kind: 'map', line, entries } : { kind: 'list', line, items });
      stack.push({ list: items, entries: isMap ? entries : null, name: null });
    },
    close: () => void stack.pop(),
    add: (token: string, line: number) => {
      const text = toText(token);
      const open = stack.at(-1) ?? top;
      if (open.entries !== null && open.name === null) open.name = { key: text, line };
      else place({ kind: 'scalar', line, text });
    },
    root: () => top.list[0],
  };
}

function toText(token: string): string {
  if (!token.startsWith('"')) return token;
  return token.includes('\\') ? JSON.parse(token) : token.slice(1, -1);
}
