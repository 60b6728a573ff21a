import type { FoundPassage } from '../index/passage-index.ts';
import { kindOf } from '../readers/reader-kinds.ts';
import type { Block } from '../readers/section.ts';
import { foldName, toWords } from '../text/words.ts';
import type { PassageStore } from './passage-store.ts';

export interface CodeQuestion {
  /** Names, each split into its steps: `Door.open` into `Door` and `open`. */
  readonly names: readonly AskedName[];
  /** Whether the question asks for a place, as in “where is `open` defined”. */
  readonly asksPlace: boolean;
  /** Whether the question asks what throws an error, as in “which function raises `DoorError`”. */
  readonly asksThrow: boolean;
  /** Whether the question asks for documentation, or how to do something without naming code. */
  readonly asksDocs: boolean;
  /** Whether the question asks for tests, examples or generated code. */
  readonly asksAside: boolean;
  /** Word for the kind of the name, such as `class`; `undefined` if the question contains none. */
  readonly kind: string | undefined;
  readonly stems: ReadonlySet<string>;
}

type AskedName = Readonly<{ steps: readonly string[]; share: number }>;

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));
const kinds = setOf(
  `class function method type interface module struct trait enum constant variable decorator exception error macro
  property attribute field option setting hook component filter command protocol object namespace func fn def`.replaceAll(
    /\s+/g,
    ' ',
  ),
);
const defining = setOf(
  'defined declared implemented documented located described exported definition implementation definiert implementiert',
);
const owning = setOf('defines declares implements documents exports has contains called named');
const small = setOf(
  'a an the is are it its this that of in for on to and or file get gets does do be which what where i can find ist wird',
);
const showing = setOf('the a an me my show find see locate go to of definition code source');

/** Words before the last word of a question for its place, as in “which file has `door`”. */
const beforeLast: ReadonlySet<string> = new Set([...owning, 'is', 'are', 'the', 'of', 'ist']);
const unnamed: ReadonlySet<string> = new Set([...kinds, ...defining, ...owning, ...small]);
const exported = ['export', 'pub', 'public'];

const place =
  /\bwhere\b|^\s*wo (?:ist|wird)\b|\b(?:who|what) (?:throws|raises|returns|logs|prints)\b|\b(?:which|what) (?:file|module|class|function|method|struct|line|folder|source)\b|\b(?:defined|declared|implemented|definition|implementation|source code) (?:of|in)?\b|\b(?:definition|implementation)$/i;
const throwing = /\b(?:throws|thrown|raises|raised)\b/i;
const capital = /^\p{Lu}/u;
const howTo = /\bhow (?:do|can|to|should|would)\b/i;
const written =
  /[\p{L}_$#@][\p{L}\p{N}_$]*(?:(?:\.|::|#|->)[\p{L}_$#][\p{L}\p{N}_$]*)*[?!=]?(?:\(\))?/gu;
const [usage, mention, commonWord] = [0.25, 0.5, 0.8];
const maxWords = 80;
const maxNames = 8;
const maxSteps = 6;

/** Finds the names of programs that a question asks about. */
export function toCodeQuestion(text: string): CodeQuestion {
  const words = [...text.matchAll(written)].slice(0, maxWords).map(([word]) => word);
  const plain = words.map((word, at) => {
    const lower = word.toLowerCase().replace(/[?!=]$/, '');
    // A capitalised word for a kind is a name, as in “where is Filter”.
    const isName = kinds.has(lower) && capital.test(word) && !capital.test(words[at - 1] ?? 'A');
    return isName ? word : lower;
  });
  const asksPlace = place.test(text) || isNameOnly(words, plain);
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
    asksThrow: asksPlace && throwing.test(text),
    asksDocs: /\bdocument/i.test(text) || (howTo.test(text) && !words.some(isCodeName)),
    asksAside: /\b(?:tests?|specs?|examples?|samples?|fixtures?|generated)\b/i.test(text),
    stems: new Set(toWords(text).words.map(({ stem }) => stem)),
    kind: plain.find((word, at) => kinds.has(word) && !kinds.has(plain[at + 1] ?? '')),
  };
}

function isNameOnly(words: readonly string[], plain: readonly string[]): boolean {
  const isName = (word: string, at: number) =>
    isCodeName(word) || (!showing.has(plain[at] ?? '') && isAskedWord(plain, at, true));
  const isOther = (word: string, at: number) =>
    !isName(word, at) && !kinds.has(plain[at] ?? '') && !showing.has(plain[at] ?? '');
  return words.some(isName) && !words.some(isOther);
}

function toSteps(word: string): readonly string[] {
  const steps = word.split(/\.|::|#|->|\(\)|[?!=]$/).filter((step) => step !== '');
  return steps.slice(-maxSteps);
}

function toPairs(words: readonly string[]): readonly AskedName[] {
  return words.slice(1).flatMap((word, at) => {
    const before = words[at] ?? '';
    const isPair =
      !unnamed.has(before) && !showing.has(before) && !small.has(word) && !defining.has(word);
    return isPair ? [{ steps: [before + word], share: commonWord }] : [];
  });
}

function isCodeName(word: string): boolean {
  return /[\p{L}\p{N}](?:[_$.#]|::|->)[\p{L}]|\p{Ll}\p{Lu}|^[_$@#]\w|\(\)$|\p{Lu}{2}\p{Ll}{2}|^\p{Lu}{5}/u.test(
    word,
  );
}

function isAskedWord(words: readonly string[], at: number, asksPlace: boolean): boolean {
  const [before = '', word = '', after = ''] = [words[at - 1], words[at], words[at + 1]];
  // A word for a kind is a name only before another one, as in “the filter class”.
  if (unnamed.has(word) && !(kinds.has(word) && kinds.has(after))) return false;
  const isOfKind = kinds.has(after) || (kinds.has(before) && words[at - 2] !== 'which');
  return (
    isOfKind || (asksPlace && (isDefined(words, at) || (after === '' && beforeLast.has(before))))
  );
}

function isDefined(words: readonly string[], at: number): boolean {
  const [after = '', second = ''] = [words[at + 1], words[at + 2]];
  return defining.has(after) || (small.has(after) && defining.has(second));
}

const maxDefinitions = 60;

/** Maps defining passages to match degrees (0 to 1). `Door.open` also finds any other `open`. */
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

function findSteps(steps: readonly string[], whole: readonly string[], store: PassageStore) {
  const isFileEnding = steps.length < whole.length && kindOf(`x.${steps.at(-1)}`) !== undefined;
  return isFileEnding ? [] : [...store.defines(foldName(steps.join('')))].slice(0, maxDefinitions);
}

/** Returns a factor for a place that defines a name: below 1 for tests and type declarations. */
export function placeFactor(
  { path, heading, trail, terms }: FoundPassage,
  code: CodeQuestion,
): number {
  const { names, asksThrow, asksDocs, asksPlace, kind } = code;
  const isCode = isSourceCode(path);
  const around = foldName(`${path}/${trail.join('/')}/${heading}`);
  const start = terms.code.slice(0, 8);
  const isOfType = ({ steps }: AskedName) =>
    steps.slice(0, -1).every((step) => around.includes(foldName(step)));
  const reductions: readonly (readonly [boolean, number])[] = [
    // A definition of an error does not throw it.
    [asksThrow, -0.3],
    [/\.d\.[cm]?ts$|\.pyi$/.test(path), 0.8],
    // Documentation if the question asks for code, or code if it asks for documentation.
    [asksPlace && asksDocs === isCode, 0.3],
    [kind !== undefined && !start.includes(kind), 0.9],
    [isCode && trail.length > 0 && names.every(({ steps }) => steps.length === 1), 0.95],
    [!names.some(({ steps }) => heading.includes(steps.at(-1) ?? '')), 0.9],
    [!names.some(isOfType), 0.7],
    [!exported.some((word) => start.includes(word)), 0.97],
  ];
  return reductions.reduce(
    (all, [applies, factor]) => (applies ? all * factor : all),
    asideFactor(path, code),
  );
}

const aside =
  /(?:^|\/)(?:tests?|__tests__|spec|specs|testdata|fixtures?|mocks?|__mocks__|examples?|samples?|bench(?:marks?)?|vendor(?:ed)?|third[-_]party|generated|dist|build)\/|[._-](?:test|tests|spec|bench|min|bundle|generated|pb)\.\w+$|(?:^|\/)(?:test_[^/]*|conftest)\.py$/i;

/** Returns a factor for a definition or quotation: below 1 in tests, examples and the like. */
export function asideFactor(path: string, { asksAside }: CodeQuestion): number {
  return isAside(path) && !asksAside ? 0.4 : 1;
}

export function isAside(path: string): boolean {
  return aside.test(path);
}

export function isSourceCode(path: string): boolean {
  return kindOf(path) === 'sourceCode';
}

const minSharedWords = 2;

/** Returns the block and line that declare a name, or else share most words; or `undefined`. */
export function declaringBlock(blocks: readonly Block[], { names, stems }: CodeQuestion) {
  const lines = blocks
    .filter(({ kind }) => kind === 'code')
    .flatMap((block) =>
      block.text.split('\n').map((text, at) => ({ block, text, line: block.line + at })),
    );
  for (const { steps } of names) {
    const name = foldName(steps.at(-1) ?? '');
    const isNamed = (word: string) => foldName(word) === name;
    const declared = lines.find(({ text }) => text.split(/[^\p{L}\p{N}_$]+/u).some(isNamed));
    if (declared !== undefined) return declared;
  }
  const shared = lines.map(
    ({ text }) =>
      new Set(
        toWords(text)
          .words.map(({ stem }) => stem)
          .filter((one) => stems.has(one)),
      ).size,
  );
  const most = Math.max(...shared);
  return most < minSharedWords ? undefined : lines[shared.indexOf(most)];
}
