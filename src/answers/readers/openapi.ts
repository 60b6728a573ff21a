import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { type ReadFile, SectionBuilder } from './section.ts';

const createReader = (parse: (text: string) => MaybeNode) => (text: string) => {
  // Parsing is slow, so a text without a member `openapi` or `swagger` is not parsed.
  if (!/(?:openapi|swagger)["']?\s*:/.test(text)) return undefined;
  const root = parse(text);
  const isDescription = textAt(root, 'openapi') + textAt(root, 'swagger') !== '';
  return isDescription ? new OpenApiReader(root).read(text) : undefined;
};

export const readOpenApiJson = createReader(parseJsonTree);
export const readOpenApiYaml = createReader(parseYamlTree);

const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'];

class OpenApiReader {
  readonly #sections = new SectionBuilder();
  readonly #root: MaybeNode;

  constructor(root: MaybeNode) {
    this.#root = root;
  }

  read(text: string): ReadFile {
    const title = textAt(this.#root, 'info', 'title');
    this.#sections.startSection({ level: 1, text: title, line: 1 });
    this.#addText(nodeAt(this.#root, 'info'), 'description');
    for (const path of entriesOf(nodeAt(this.#root, 'paths'))) this.#addPath(path);
    const schemas =
      nodeAt(this.#root, 'components', 'schemas') ?? nodeAt(this.#root, 'definitions');
    for (const schema of entriesOf(schemas)) this.#addSchema(schema);
    return this.#sections.finish(title, text);
  }

  #addPath(path: DocumentEntry): void {
    const shared = nodeAt(path.value, 'parameters');
    for (const operation of entriesOf(path.value)) {
      if (!methods.includes(operation.key)) continue;
      const text = `${operation.key.toUpperCase()} ${path.key}`;
      this.#sections.startSection({ level: 2, text, line: operation.line });
      this.#addText(operation.value, 'summary', 'description', 'operationId');
      this.#addParameters(shared);
      this.#addParameters(nodeAt(operation.value, 'parameters'));
      for (const { key, line, value } of entriesOf(nodeAt(operation.value, 'responses'))) {
        this.#addItem(line, `\`${key}\`: ${textAt(value, 'description')}`);
      }
    }
  }

  #addParameters(list: MaybeNode): void {
    for (const reference of itemsOf(list)) {
      const parameter = this.#resolve(reference);
      const [name, place] = [textAt(parameter, 'name'), textAt(parameter, 'in')];
      if (name === '') continue;
      const facts = [textAt(parameter, 'description'), ...factsOf(nodeAt(parameter, 'schema'))];
      this.#addItem(reference.line, `\`${name}\` (${place})`, ...facts);
    }
  }

  #addSchema(schema: DocumentEntry): void {
    this.#sections.startSection({ level: 2, text: schema.key, line: schema.line });
    this.#addText(schema.value, 'description');
    for (const { key, line, value } of entriesOf(nodeAt(schema.value, 'properties'))) {
      this.#addItem(line, `\`${key}\``, textAt(value, 'description'), ...factsOf(value));
    }
  }

  /** Returns the target of a `$ref` within the document (not resolved again), or `node` itself. */
  #resolve(node: MaybeNode): MaybeNode {
    const reference = textAt(node, '$ref');
    if (!reference.startsWith('#/')) return node;
    return nodeAt(this.#root, ...reference.slice(2).split('/').map(unescapePointer));
  }

  #addText(parent: MaybeNode, ...keys: readonly string[]): void {
    for (const node of keys.map((key) => nodeAt(parent, key))) {
      if (node?.kind === 'scalar') this.#add('text', node.text, node.line);
    }
  }

  #addItem(line: number, ...facts: readonly string[]): void {
    this.#add('item', facts.filter((fact) => fact !== '').join('; '), line);
  }

  #add(kind: 'text' | 'item', text: string, line: number): void {
    this.#sections.add({ kind, text: text.replaceAll(/\s+/g, ' ').trim(), line, endLine: line });
  }
}

function factsOf(schema: MaybeNode): readonly string[] {
  const values = itemsOf(nodeAt(schema, 'enum'))
    .map((value) => textAt(value))
    .filter((text) => text !== '')
    .map((text) => `\`${text}\``);
  const byDefault = textAt(schema, 'default');
  return [
    textAt(schema, 'type'),
    values.length > 0 ? `one of ${values.join(', ')}` : '',
    byDefault === '' ? '' : `default \`${byDefault}\``,
  ];
}

const unescapePointer = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~');

function parseYamlTree(source: string): MaybeNode {
  const lines = new LineCounter();
  const { contents } = parseDocument(source, { lineCounter: lines, logLevel: 'silent' });
  return toTree(contents, lines);
}

function toTree(node: unknown, lines: LineCounter): MaybeNode {
  const line = lineOf(node, lines);
  if (isScalar(node)) return { kind: 'scalar', line, text: String(node.value) };
  if (isSeq(node)) {
    const items = node.items.flatMap((item) => toTree(item, lines) ?? []);
    return { kind: 'list', line, items };
  }
  if (!isMap(node)) return undefined;
  const entries = node.items.map(({ key, value }): [string, DocumentEntry] => {
    const name = isScalar(key) ? String(key.value) : '';
    return [name, { key: name, line: lineOf(key, lines), value: toTree(value, lines) }];
  });
  return { kind: 'map', line, entries: new Map(entries) };
}

function lineOf(node: unknown, lines: LineCounter): number {
  const [offset = 0] = (node as Partial<Node> | null)?.range ?? [];
  return Math.max(1, lines.linePos(offset).line);
}

type DocumentNode = { readonly line: number } & (
  | { readonly kind: 'scalar'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly DocumentNode[] }
  | { readonly kind: 'map'; readonly entries: ReadonlyMap<string, DocumentEntry> }
);

type DocumentEntry = Readonly<{ key: string; line: number; value: MaybeNode }>;

type MaybeNode = DocumentNode | undefined;

function nodeAt(node: MaybeNode, ...keys: readonly string[]): MaybeNode {
  const below = (here: MaybeNode, key: string) =>
    here?.kind === 'map' ? here.entries.get(key)?.value : undefined;
  return keys.reduce(below, node);
}

function textAt(node: MaybeNode, ...keys: readonly string[]): string {
  const found = nodeAt(node, ...keys);
  return found?.kind === 'scalar' ? found.text : '';
}

function entriesOf(node: MaybeNode): readonly DocumentEntry[] {
  return node?.kind === 'map' ? [...node.entries.values()] : [];
}

function itemsOf(node: MaybeNode): readonly DocumentNode[] {
  return node?.kind === 'list' ? node.items : [];
}

const tokens = /\n|[{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}[\],:"]+/g;

type Open = (token: string, line: number) => readonly Open[];

/** Parses JSON of any depth into nodes with lines. Throws SyntaxError for invalid JSON. */
function parseJsonTree(source: string): MaybeNode {
  JSON.parse(source);
  const top: DocumentNode[] = [];
  const stack = [openValue((value) => top.push(value))];
  let line = 1;
  for (const [token] of source.matchAll(tokens)) {
    if (token === '\n') line += 1;
    else if (token === '}' || token === ']') stack.pop();
    else if (token !== ',' && token !== ':') stack.push(...(stack.at(-1)?.(token, line) ?? []));
  }
  return top[0];
}

const openValue =
  (add: (value: DocumentNode) => void): Open =>
  (token, line) => {
    const items: DocumentNode[] = [];
    const entries = new Map<string, DocumentEntry>();
    if (token === '[') add({ kind: 'list', line, items });
    else if (token === '{') add({ kind: 'map', line, entries });
    else add({ kind: 'scalar', line, text: toText(token) });
    if (token === '[') return [openValue((value) => items.push(value))];
    return token === '{' ? [openMap(entries)] : [];
  };

function openMap(entries: Map<string, DocumentEntry>): Open {
  let name: Pick<DocumentEntry, 'key' | 'line'> | null = null;
  const takeValue = openValue((value) => {
    if (name !== null) entries.set(name.key, { ...name, value });
    name = null;
  });
  return (token, line) => {
    if (name !== null) return takeValue(token, line);
    name = { key: toText(token), line };
    return [];
  };
}

function toText(token: string): string {
  if (!token.startsWith('"')) return token;
  return token.includes('\\') ? JSON.parse(token) : token.slice(1, -1);
}
