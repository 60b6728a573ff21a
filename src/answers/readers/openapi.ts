import { isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import {
  type DocumentEntry,
  type DocumentNode,
  entriesOf,
  itemsOf,
  nodeAt,
  parseJsonTree,
  textAt,
} from './document-tree.ts';
import { countLines, type ReadFile, SectionBuilder } from './section.ts';

/** Reads an OpenAPI or Swagger document in JSON; undefined for anything else. */
export function readOpenApiJson(text: string): ReadFile | undefined {
  return readTree(text, parseJsonTree);
}

/** Reads an OpenAPI or Swagger document in YAML; undefined for anything else. */
export function readOpenApiYaml(text: string): ReadFile | undefined {
  return readTree(text, parseYamlTree);
}

function readTree(
  text: string,
  parse: (text: string) => DocumentNode | undefined,
): ReadFile | undefined {
  // Parsing takes long, so a text without the member is not parsed.
  if (!/(?:openapi|swagger)["']?\s*:/.test(text)) return undefined;
  const root = parse(text);
  if (textAt(root, 'openapi') + textAt(root, 'swagger') === '') return undefined;
  const walk = new DocumentWalk(root);
  const title = textAt(root, 'info', 'title');
  walk.take(title);
  return { title, sections: walk.sections.finish(countLines(text)) };
}

const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'];

class DocumentWalk {
  readonly sections = new SectionBuilder();
  readonly #root: DocumentNode | undefined;

  constructor(root: DocumentNode | undefined) {
    this.#root = root;
  }

  take(title: string): void {
    this.sections.startSection({ level: 1, text: title, line: 1 });
    this.#addText(nodeAt(this.#root, 'info'), 'description');
    for (const path of entriesOf(nodeAt(this.#root, 'paths'))) this.#addPath(path);
    const schemas =
      nodeAt(this.#root, 'components', 'schemas') ?? nodeAt(this.#root, 'definitions');
    for (const schema of entriesOf(schemas)) this.#addSchema(schema);
  }

  #addPath(path: DocumentEntry): void {
    const shared = nodeAt(path.value, 'parameters');
    for (const operation of entriesOf(path.value)) {
      if (!methods.includes(operation.key)) continue;
      const text = `${operation.key.toUpperCase()} ${path.key}`;
      this.sections.startSection({ level: 2, text, line: operation.line });
      for (const key of ['summary', 'description', 'operationId']) {
        this.#addText(operation.value, key);
      }
      this.#addParameters(shared);
      this.#addParameters(nodeAt(operation.value, 'parameters'));
      for (const { key, line, value } of entriesOf(nodeAt(operation.value, 'responses'))) {
        this.#addItem(line, `\`${key}\`: ${textAt(value, 'description')}`);
      }
    }
  }

  #addParameters(list: DocumentNode | undefined): void {
    for (const reference of itemsOf(list)) {
      const parameter = this.#resolve(reference);
      const [name, place] = [textAt(parameter, 'name'), textAt(parameter, 'in')];
      if (name === '') continue;
      const facts = [textAt(parameter, 'description'), ...factsOf(nodeAt(parameter, 'schema'))];
      this.#addItem(reference.line, `\`${name}\` (${place})`, ...facts);
    }
  }

  #addSchema(schema: DocumentEntry): void {
    this.sections.startSection({ level: 2, text: schema.key, line: schema.line });
    this.#addText(schema.value, 'description');
    for (const { key, line, value } of entriesOf(nodeAt(schema.value, 'properties'))) {
      this.#addItem(line, `\`${key}\``, textAt(value, 'description'), ...factsOf(value));
    }
  }

  /** Follows a reference within the document, one step. */
  #resolve(node: DocumentNode | undefined): DocumentNode | undefined {
    const reference = textAt(node, '$ref');
    if (!reference.startsWith('#/')) return node;
    return nodeAt(this.#root, ...reference.slice(2).split('/').map(unescapePointer));
  }

  #addText(parent: DocumentNode | undefined, key: string): void {
    const node = nodeAt(parent, key);
    if (node?.kind === 'scalar') this.#add('text', node.text, node.line);
  }

  #addItem(line: number, ...facts: readonly string[]): void {
    this.#add('item', facts.filter((fact) => fact !== '').join('; '), line);
  }

  #add(kind: 'text' | 'item', text: string, line: number): void {
    this.sections.add({ kind, text: text.replaceAll(/\s+/g, ' ').trim(), line, endLine: line });
  }
}

/** Returns the type, the values and the default of a schema; empty texts for what it lacks. */
function factsOf(schema: DocumentNode | undefined): readonly string[] {
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

/** Parses YAML with its lines, as far as it is YAML; aliases are left out. */
function parseYamlTree(source: string): DocumentNode | undefined {
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
