/** Operators between the parts of a MathML element, such as base and exponent. */
const operators: ReadonlyMap<string, readonly string[]> = new Map([
  ['msup', ['', '^']],
  ['msub', ['', '_']],
  ['msubsup', ['', '_', '^']],
  ['munder', ['', '_']],
  ['munderover', ['', '_', '^']],
  ['mfrac', ['', '/']],
]);

interface Part {
  text: string;
  /** Whether no space precedes the text. */
  isJoined: boolean;
}

interface OpenElement {
  readonly name: string;
  children: number;
}

type Source = 'shown' | 'annotated' | 'tex';

/** Formula in MathML. Collects the texts of its presentation and of its annotations. */
export class Formula {
  readonly #alternative: string;
  readonly #parts: Readonly<Record<Source, Part[]>> = { shown: [], annotated: [], tex: [] };
  readonly #open: OpenElement[] = [];
  #source: Source = 'shown';

  /** `alternative`: text for readers that show no MathML (`alttext`); can be empty. */
  constructor(alternative: string) {
    this.#alternative = alternative;
  }

  write(text: string): void {
    const written = this.#source === 'tex' ? text : text.trim();
    if (written === '') return;
    this.#parts[this.#source].push({ text: written, isJoined: this.#source === 'tex' });
  }

  /** Opens an element, and returns the function that closes it. */
  enter(name: string): () => void {
    const parent = this.#open.at(-1);
    const parts = this.#parts[this.#source];
    const operator = parent && operators.get(parent.name)?.[parent.children];
    if (parent !== undefined) parent.children += 1;
    this.#open.push({ name, children: 0 });
    const from = parts.length;
    return () => {
      this.#open.pop();
      if (name === 'msqrt') joinParts(parts, from, '√');
      else if (operator !== undefined) joinParts(parts, from, operator);
    };
  }

  /** Opens an annotation, and returns the function that closes it; `null` for unsupported ones. */
  enterAnnotation(name: string, encoding: string): (() => void) | null {
    const source = toSource(name, encoding);
    if (source === null) return null;
    const outer = this.#source;
    this.#source = source;
    this.#open.push({ name, children: 0 });
    return () => {
      this.#open.pop();
      this.#source = outer;
    };
  }

  /** Returns the TeX, otherwise the alternative text, otherwise the parts of a presentation. */
  toText(): string {
    const { tex, annotated, shown } = this.#parts;
    const shownParts = annotated.length > 0 ? annotated : shown;
    return writeParts(tex) || this.#alternative.trim() || writeParts(shownParts);
  }
}

/** Returns which text an annotation contains: https://www.w3.org/TR/mathml-core/#semantics */
function toSource(name: string, encoding: string): Source | null {
  const [type = ''] = encoding.split(';');
  if (name === 'annotation') return /(?:^|[/-])(?:la)?tex$/i.test(type.trim()) ? 'tex' : null;
  const isShown = /^(?:mathml-presentation|application\/mathml-presentation\+xml)$/i;
  return isShown.test(type.trim()) ? 'annotated' : null;
}

function joinParts(parts: readonly Part[], from: number, operator: string): void {
  const [first, last] = [parts[from], parts.at(-1)];
  if (first === undefined || last === undefined) return;
  const isGroup = first.text.startsWith('(') && last.text.endsWith(')');
  if (first !== last && !isGroup) {
    first.text = `(${first.text}`;
    last.text = `${last.text})`;
  }
  first.text = `${operator}${first.text}`;
  first.isJoined ||= operator !== '' && operator !== '√';
}

const writeParts = (parts: readonly Part[]): string =>
  parts
    .map(({ text, isJoined }, at) => (isJoined || at === 0 ? text : ` ${text}`))
    .join('')
    .trim();
