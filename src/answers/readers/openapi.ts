import { isMap, isPair, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import { countLines, type ReadFile, SectionBuilder } from './section.ts';

/** Reads an OpenAPI or Swagger document in JSON or YAML; undefined for any other JSON or YAML. */
export function readOpenApi(text: string): ReadFile | undefined {
  if (!/(?:^|[{,])\s*["']?(?:openapi|swagger)["']?\s*:/m.test(text)) return undefined;
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, logLevel: 'silent' });
  if (!isMap(document.contents)) return undefined;
  const walk = new DocumentWalk((node) => lineOf(node, lineCounter), document.contents);
  return { title: walk.title, sections: walk.sections(countLines(text)) };
}

function lineOf(node: unknown, counter: LineCounter): number {
  const [offset = 0] = (node as Partial<Node> | null)?.range ?? [];
  return Math.max(1, counter.linePos(offset).line);
}

interface Entry {
  readonly key: string;
  readonly line: number;
  readonly value: unknown;
}

const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'];

class DocumentWalk {
  readonly title: string;
  readonly #builder = new SectionBuilder();
  readonly #lineOf: (node: unknown) => number;
  readonly #root: unknown;

  constructor(toLine: (node: unknown) => number, root: unknown) {
    this.#lineOf = toLine;
    this.#root = root;
    this.title = textAt(root, 'info', 'title');
  }

  sections(lastLine: number) {
    this.#start(1, this.title, { key: '', line: 1, value: undefined });
    this.#addText(at(this.#root, 'info'), 'description');
    for (const path of this.#entries(at(this.#root, 'paths'))) this.#addPath(path);
    const schemas = at(this.#root, 'components', 'schemas') ?? at(this.#root, 'definitions');
    for (const schema of this.#entries(schemas)) this.#addSchema(schema);
    return this.#builder.finish(lastLine);
  }

  #start(level: number, text: string, { line }: Entry): void {
    this.#builder.startSection({ level, text, line });
  }

  #addPath(path: Entry): void {
    const shared = at(path.value, 'parameters');
    for (const operation of this.#entries(path.value)) {
      if (!methods.includes(operation.key)) continue;
      this.#start(2, `${operation.key.toUpperCase()} ${path.key}`, operation);
      this.#addText(operation.value, 'summary');
      this.#addText(operation.value, 'description');
      this.#addText(operation.value, 'operationId');
      this.#addParameters(shared);
      this.#addParameters(at(operation.value, 'parameters'));
      for (const answer of this.#entries(at(operation.value, 'responses'))) {
        this.#addItem(answer, `\`${answer.key}\`: ${textAt(answer.value, 'description')}`);
      }
    }
  }

  #addParameters(list: unknown): void {
    for (const reference of itemsOf(list)) {
      const parameter = this.#resolve(reference);
      const [name, place] = [textAt(parameter, 'name'), textAt(parameter, 'in')];
      if (name === '') continue;
      const facts = [
        `\`${name}\` (${place})`,
        textAt(parameter, 'description'),
        ...factsOf(at(parameter, 'schema')),
      ];
      this.#addItem({ key: name, line: this.#lineOf(reference), value: parameter }, join(facts));
    }
  }

  #addSchema(schema: Entry): void {
    this.#start(2, schema.key, schema);
    this.#addText(schema.value, 'description');
    for (const property of this.#entries(at(schema.value, 'properties'))) {
      const facts = [
        `\`${property.key}\``,
        textAt(property.value, 'description'),
        ...factsOf(property.value),
      ];
      this.#addItem(property, join(facts));
    }
  }

  /** Follows a reference within the document, one step. */
  #resolve(node: unknown): unknown {
    const reference = textAt(node, '$ref');
    if (!reference.startsWith('#/')) return node;
    return at(this.#root, ...reference.slice(2).split('/').map(unescapePointer));
  }

  #entries(node: unknown): readonly Entry[] {
    if (!isMap(node)) return [];
    return node.items.filter(isPair).map(({ key, value }) => ({
      key: isScalar(key) ? String(key.value) : '',
      line: this.#lineOf(key),
      value,
    }));
  }

  #addText(parent: unknown, key: string): void {
    const node = at(parent, key);
    if (isScalar(node)) this.#add('text', String(node.value), this.#lineOf(node));
  }

  #addItem(entry: Entry, text: string): void {
    this.#add('item', text, entry.line);
  }

  #add(kind: 'text' | 'item', text: string, line: number): void {
    this.#builder.add({ kind, text: text.replaceAll(/\s+/g, ' ').trim(), line, endLine: line });
  }
}

function at(node: unknown, ...keys: readonly string[]): unknown {
  let here = node;
  for (const key of keys) here = isMap(here) ? here.get(key, true) : undefined;
  return here;
}

function textAt(node: unknown, ...keys: readonly string[]): string {
  const value = at(node, ...keys);
  return isScalar(value) ? String(value.value) : '';
}

/** What a schema says in a few words. */
function factsOf(schema: unknown): readonly string[] {
  const values = itemsOf(at(schema, 'enum'))
    .filter(isScalar)
    .map((value) => `\`${value.value}\``);
  const byDefault = textAt(schema, 'default');
  return [
    textAt(schema, 'type'),
    values.length > 0 ? `one of ${values.join(', ')}` : '',
    byDefault === '' ? '' : `default \`${byDefault}\``,
  ];
}

function itemsOf(node: unknown): readonly unknown[] {
  const items = (node as { readonly items?: unknown } | null | undefined)?.items;
  return Array.isArray(items) && !isMap(node) ? items : [];
}

const join = (facts: readonly string[]) => facts.filter((fact) => fact !== '').join('; ');
const unescapePointer = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~');
