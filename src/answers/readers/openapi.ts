import { isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import {
  type DocumentEntry,
  type DocumentNode,
  entriesOf,
  itemsOf,
  nodeAt,
  textAt,
} from './document-tree.ts';
import { parseJsonTree } from './json-tree.ts';
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
  // Parsing is dear, so a text without the member is not parsed.
  if (!/(?:openapi|swagger)["']?\s*:/.test(text)) return undefined;
  const root = parse(text);
  if (textAt(root, 'openapi') + textAt(root, 'swagger') === '') return undefined;
  const walk = new DocumentWalk(root);
  return { title: walk.title, sections: walk.sections(countLines(text)) };
}

const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'];

class DocumentWalk {
  readonly title: string;
  readonly #builder = new SectionBuilder();
  readonly #root: DocumentNode | undefined;

  constructor(root: DocumentNode | undefined) {
    this.#root = root;
    this.title = textAt(root, 'info', 'title');
  }

  sections(lastLine: number) {
    this.#start(1, this.title, { key: '', line: 1, value: undefined });
    this.#addText(nodeAt(this.#root, 'info'), 'description');
    for (const path of entriesOf(nodeAt(this.#root, 'paths'))) this.#addPath(path);
    const schemas =
      nodeAt(this.#root, 'components', 'schemas') ?? nodeAt(this.#root, 'definitions');
    for (const schema of entriesOf(schemas)) this.#addSchema(schema);
    return this.#builder.finish(lastLine);
  }

  #start(level: number, text: string, { line }: DocumentEntry): void {
    this.#builder.startSection({ level, text, line });
  }

  #addPath(path: DocumentEntry): void {
    const shared = nodeAt(path.value, 'parameters');
    for (const operation of entriesOf(path.value)) {
      if (!methods.includes(operation.key)) continue;
      this.#start(2, `${operation.key.toUpperCase()} ${path.key}`, operation);
      this.#addText(operation.value, 'summary');
      this.#addText(operation.value, 'description');
      this.#addText(operation.value, 'operationId');
      this.#addParameters(shared);
      this.#addParameters(nodeAt(operation.value, 'parameters'));
      for (const answer of entriesOf(nodeAt(operation.value, 'responses'))) {
        this.#addItem(answer, `\`${answer.key}\`: ${textAt(answer.value, 'description')}`);
      }
    }
  }

  #addParameters(list: DocumentNode | undefined): void {
    for (const reference of itemsOf(list)) {
      const parameter = this.#resolve(reference);
      const [name, place] = [textAt(parameter, 'name'), textAt(parameter, 'in')];
      if (name === '') continue;
      const facts = [
        `\`${name}\` (${place})`,
        textAt(parameter, 'description'),
        ...factsOf(nodeAt(parameter, 'schema')),
      ];
      this.#addItem({ key: name, line: reference.line, value: parameter }, join(facts));
    }
  }

  #addSchema(schema: DocumentEntry): void {
    this.#start(2, schema.key, schema);
    this.#addText(schema.value, 'description');
    for (const property of entriesOf(nodeAt(schema.value, 'properties'))) {
      const facts = [
        `\`${property.key}\``,
        textAt(property.value, 'description'),
        ...factsOf(property.value),
      ];
      this.#addItem(property, join(facts));
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

  #addItem(entry: DocumentEntry, text: string): void {
    this.#add('item', text, entry.line);
  }

  #add(kind: 'text' | 'item', text: string, line: number): void {
    this.#builder.add({ kind, text: text.replaceAll(/\s+/g, ' ').trim(), line, endLine: line });
  }
}

/** What a schema says in a few words. */
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

const join = (facts: readonly string[]) => facts.filter((fact) => fact !== '').join('; ');
const unescapePointer = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~');

/** Takes YAML apart with its lines. What is no YAML is taken as far as it can be; aliases are left out. */
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
