import { attributeOf, type Element } from './html-tree.ts';

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

type Source = 'shown' | 'annotated' | 'tex' | 'other';
type Parts = Readonly<Record<Source, Part[]>>;

/**
 * Returns the TeX of a formula in MathML, otherwise its alternative text (`alttext`), otherwise the
 * parts of a presentation. `clean`: applied to each piece of text.
 */
export function toFormulaText(math: Element, clean: (text: string) => string): string {
  const parts: Parts = { shown: [], annotated: [], tex: [], other: [] };
  collect(math, 'shown', { parts, clean });
  const shown = parts.annotated.length > 0 ? parts.annotated : parts.shown;
  return join(parts.tex) || attributeOf(math, 'alttext').trim() || join(shown);
}

interface Target {
  readonly parts: Parts;
  readonly clean: (text: string) => string;
}

function collect({ name, children }: Element, source: Source, target: Target): void {
  const waiting = [...(operators.get(name) ?? [])];
  for (const child of children) {
    if (typeof child === 'string') add(child, source, target);
    else if (child.name === 'img') add(attributeOf(child, 'alt'), source, target);
    else if (child.name.startsWith('annotation')) collectAnnotation(child, source, target);
    else collectPart(child, source, { ...target, operator: waiting.shift() });
  }
}

function collectAnnotation(annotation: Element, source: Source, target: Target): void {
  collect(annotation, source === 'other' ? source : sourceOf(annotation), target);
}

function collectPart(
  part: Element,
  source: Source,
  { operator, ...target }: Target & { readonly operator: string | undefined },
): void {
  const from = target.parts[source].length;
  collect(part, source, target);
  joinParts(target.parts[source].slice(from), part.name === 'msqrt' ? '√' : operator);
}

function add(text: string, source: Source, { parts, clean }: Target): void {
  const isTex = source === 'tex';
  const written = isTex ? clean(text) : clean(text).trim();
  if (written !== '') parts[source].push({ text: written, isJoined: isTex });
}

/** Returns which text an annotation contains: https://www.w3.org/TR/mathml-core/#semantics */
function sourceOf(annotation: Element): Source {
  const type = attributeOf(annotation, 'encoding').split(';')[0]?.trim() ?? '';
  if (annotation.name === 'annotation')
    return /(?:^|[/-])(?:la)?tex$/i.test(type) ? 'tex' : 'other';
  const isShown = /^(?:mathml-presentation|application\/mathml-presentation\+xml)$/i;
  return isShown.test(type) ? 'annotated' : 'other';
}

function joinParts(parts: readonly Part[], operator: string | undefined): void {
  const [first, last] = [parts[0], parts.at(-1)];
  if (operator === undefined || first === undefined || last === undefined) return;
  const isGroup = first.text.startsWith('(') && last.text.endsWith(')');
  if (first !== last && !isGroup) {
    first.text = `(${first.text}`;
    last.text = `${last.text})`;
  }
  first.text = `${operator}${first.text}`;
  first.isJoined ||= operator !== '' && operator !== '√';
}

const join = (parts: readonly Part[]): string =>
  parts
    .map(({ text, isJoined }, at) => (isJoined || at === 0 ? text : ` ${text}`))
    .join('')
    .trim();
