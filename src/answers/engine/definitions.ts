import type { FoundPassage } from '../index/passage-index.ts';
import { kindOf } from '../readers/reader-kinds.ts';
import type { Block } from '../readers/section.ts';
import { foldName } from '../text/words.ts';
import type { PassageStore } from './passage-store.ts';

/** Question about code: the names that it asks for, and the kind of place to show. */
export interface CodeQuestion {
  /** Names, each split into its steps: `Door.open` into `Door` and `open`. */
  readonly names: readonly AskedName[];
  /** Whether the question asks for a place, as in “where is `open` defined”. */
  readonly asksPlace: boolean;
  /** Whether the question asks for the documentation of a name. */
  readonly asksDocs: boolean;
  /** Word for the kind of the name, such as `class`; `undefined` if the question contains none. */
  readonly kind: string | undefined;
}

/** `share`: certainty (0 to 1) that the question asks for the name rather than uses a common word. */
type AskedName = Readonly<{ steps: readonly string[]; share: number }>;

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));
const kinds = setOf(
  `class function method type interface module struct trait enum constant variable decorator exception error macro
  property attribute field option setting hook component filter command protocol object namespace`.replaceAll(
    /\s+/g,
    ' ',
  ),
);
const defining = setOf(
  'defined declared implemented documented located described exported definition implementation',
);
const owning = setOf('defines declares implements documents exports has contains called named');
const small = setOf(
  'a an the is are it its this that of in for on to and or file get gets does do be which what where',
);

/** Words before the last word of a question that asks for its place, as in “which file has `door`”. */
const beforeLast: ReadonlySet<string> = new Set([...owning, 'is', 'are', 'the', 'of']);
/** Words that are not names by themselves. */
const unnamed: ReadonlySet<string> = new Set([...kinds, ...defining, ...owning, ...small]);
/** Words at the start of declarations that other files can use. */
const exported = ['export', 'pub', 'public'];

const place =
  /\bwhere\b|\b(?:which|what) (?:file|module|class|line|folder|source)\b|\b(?:defined|declared|implemented|definition|implementation|source code) (?:of|in)?\b|\b(?:definition|implementation)$/i;
const howTo = /\bhow (?:do|can|to|should|would)\b/i;
const written =
  /[\p{L}_$#@][\p{L}\p{N}_$]*(?:(?:\.|::|#|->)[\p{L}_$#][\p{L}\p{N}_$]*)*[?!=]?(?:\(\))?/gu;
/**
 * Certainty (0 to 1) that a question asks for the declaration of a name: if it asks how to do something (`usage`), if
 * it asks something else (`mention`), and a factor for names that are written like common words (`commonWord`).
 */
const [usage, mention, commonWord] = [0.25, 0.5, 0.8];
/** Maximum numbers of words to examine, of names to search for, and of steps of a name. */
const maxWords = 80;
const maxNames = 8;
const maxSteps = 6;

/** Finds the names of programs that a question asks about. */
export function toCodeQuestion(text: string): CodeQuestion {
  const words = [...text.matchAll(written)].slice(0, maxWords).map(([word]) => word);
  const plain = words.map((word) => word.toLowerCase().replace(/[?!=]$/, ''));
  const asksPlace = place.test(text);
  const others = howTo.test(text) ? usage : mention;
  const share = asksPlace ? 1 : others;
  const names = [
    ...words.filter(isCodeName).map((word) => ({ steps: toSteps(word), share })),
    ...plain
      .filter((_, at) => isAskedWord(plain, at, asksPlace) && !isCodeName(words[at] ?? ''))
      .map((word) => ({ steps: [word], share: commonWord * share })),
  ];
  const pairs = asksPlace ? toPairs(plain) : [];
  return {
    names: [...names.slice(0, maxNames), ...pairs.slice(0, maxNames)],
    asksPlace,
    asksDocs: /\bdocument/i.test(text),
    kind: plain.find((word) => kinds.has(word)),
  };
}

function toSteps(word: string): readonly string[] {
  const steps = word.split(/\.|::|#|->|\(\)|[?!=]$/).filter((step) => step !== '');
  return steps.slice(-maxSteps);
}

/** Returns pairs of words that may be a name: “the path resolver” for `PathResolver`. */
function toPairs(words: readonly string[]): readonly AskedName[] {
  return words.slice(1).flatMap((word, at) => {
    const before = words[at] ?? '';
    const isPair = !unnamed.has(before) && !small.has(word) && !defining.has(word);
    return isPair ? [{ steps: [before + word], share: commonWord }] : [];
  });
}

/** Returns whether a word is written like a name of a program, such as `parse_options`, `Door.open` or `isOpen`. */
function isCodeName(word: string): boolean {
  return /[\p{L}\p{N}](?:[_$.#]|::|->)[\p{L}]|\p{Ll}\p{Lu}|^[_$@#]\w|\(\)$|\p{Lu}{2}\p{Ll}{2}|^\p{Lu}{5}/u.test(
    word,
  );
}

/** Returns whether a common word is used as the name of a program, as in “the `door` class” or “where is `door`”. */
function isAskedWord(words: readonly string[], at: number, asksPlace: boolean): boolean {
  if (unnamed.has(words[at] ?? '')) return false;
  const [before = '', after = ''] = [words[at - 1], words[at + 1]];
  const isOfKind = kinds.has(after) || (kinds.has(before) && words[at - 2] !== 'which');
  return (
    isOfKind || (asksPlace && (isDefined(words, at) || (after === '' && beforeLast.has(before))))
  );
}

/** Returns whether the next words are such as “defined” or “is defined”. */
function isDefined(words: readonly string[], at: number): boolean {
  const [after = '', second = ''] = [words[at + 1], words[at + 2]];
  return defining.has(after) || (small.has(after) && defining.has(second));
}

/** Maximum number of passages that define one name. Names with more definitions are too common to help. */
const maxDefinitions = 60;

/**
 * Returns the passages that define the names of a question, with the degree (0 to 1) to which the name matches. A
 * name with a type, such as `Door.open`, also finds `open` in another type, which may be an ancestor of `Door`.
 */
export function findDefinitions(
  { names }: CodeQuestion,
  store: PassageStore,
): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (const { steps, share } of names) {
    const ids = steps.flatMap((_, from) => findSteps(steps.slice(from), steps, store));
    for (const id of ids) found.set(id, Math.max(share, found.get(id) ?? 0));
  }
  return found;
}

/** Returns the passages that define the last steps of a name, unless these steps are the ending of a file name. */
function findSteps(steps: readonly string[], whole: readonly string[], store: PassageStore) {
  const isFileEnding = steps.length < whole.length && kindOf(`x.${steps.at(-1)}`) !== undefined;
  return isFileEnding ? [] : [...store.defines(foldName(steps.join('')))].slice(0, maxDefinitions);
}

/** Returns the factor (0 to 1) for a place that defines a name: less than 1 for tests, type declarations and others. */
export function placeFactor(
  { path, heading, trail, terms }: FoundPassage,
  { names, asksDocs, asksPlace, kind }: CodeQuestion,
): number {
  const isCode = isSourceCode(path);
  const around = foldName(`${path}/${trail.join('/')}/${heading}`);
  const start = terms.code.slice(0, 8);
  const isOfType = ({ steps }: AskedName) =>
    steps.slice(0, -1).every((step) => around.includes(foldName(step)));
  const reductions: readonly (readonly [boolean, number])[] = [
    [isAside(path), 0.4],
    [/\.d\.[cm]?ts$|\.pyi$/.test(path), 0.8],
    // Documentation if the question asks for code, or code if it asks for documentation.
    [asksPlace && asksDocs === isCode, 0.3],
    [kind !== undefined && !start.includes(kind), 0.9],
    [isCode && trail.length > 0 && names.every(({ steps }) => steps.length === 1), 0.95],
    [!names.some(({ steps }) => heading.includes(steps.at(-1) ?? '')), 0.9],
    [!names.some(isOfType), 0.7],
    [!exported.some((word) => start.includes(word)), 0.97],
  ];
  return reductions.reduce((all, [applies, factor]) => (applies ? all * factor : all), 1);
}

/** Matches paths of code that uses or copies other code: tests, examples, generated and vendored files. */
const aside =
  /(?:^|\/)(?:tests?|__tests__|spec|specs|testdata|fixtures?|mocks?|__mocks__|examples?|samples?|bench(?:marks?)?|vendor(?:ed)?|third[-_]party|generated|dist|build)\/|[._-](?:test|tests|spec|bench|min|bundle|generated|pb)\.\w+$|(?:^|\/)(?:test_[^/]*|conftest)\.py$/i;

export function isAside(path: string): boolean {
  return aside.test(path);
}

export function isSourceCode(path: string): boolean {
  return kindOf(path) === 'sourceCode';
}

/** Returns the code block that declares a name of the question; `undefined` if there is none. */
export function declaringBlock(blocks: readonly Block[], { names }: CodeQuestion) {
  const code = blocks.filter(({ kind }) => kind === 'code');
  const wanted = names.map(({ steps }) => foldName(steps.at(-1) ?? ''));
  for (const block of code) {
    const lines = block.text.split('\n');
    const at = lines.findIndex((line) =>
      line.split(/[^\p{L}\p{N}_$]+/u).some((word) => wanted.includes(foldName(word))),
    );
    if (at >= 0) return { block, line: block.line + at };
  }
  return undefined;
}
