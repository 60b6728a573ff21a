import { commentAbove, docstringBelow, firstDecoration, isComment } from './comments.ts';

/** Declaration that has a section of its own. Lines are indexes from 0. */
export interface Declaration {
  /** Names of the containing declarations and of the declaration itself, outermost first. */
  readonly names: readonly string[];
  /** First line, including the comment above. */
  readonly start: number;
  /** Line that declares the name. */
  readonly at: number;
  readonly depth: number;
  /** Whether the name is declared here, not elsewhere as for aliases and Rust's `impl` blocks. */
  readonly isDefinition: boolean;
}

export type MinorDeclaration = Readonly<{ names: readonly string[]; at: number }>;

interface Open {
  readonly indent: number;
  readonly isContainer: boolean;
  readonly names: readonly string[];
  readonly declaration: Declaration | undefined;
  /** Indentation of the direct members; `undefined` before the first member. */
  bodyIndent: number | undefined;
}

interface Found {
  readonly kind: DeclarationKind;
  readonly at: number;
  readonly indent: number;
  readonly name?: string;
  readonly of?: string;
}

const maxNames = 6;
const containers: readonly DeclarationKind[] = ['container', 'object'];
const maxLine = 400;

/** Matches lines that continue a declaration although they have its indentation. */
const continuation =
  /^(?:[)\]>|:]|\} ?[^\s;,)\]]|# ?(?:if|elif|else|endif|pragma)|(?:rescue|ensure|else|elsif|elif|when|except|finally|case|where|then|do)\b|(?:public|private|protected|default) ?(?::|$))/;

/** Keywords at the start of lines that make names of other files available, such as imports. */
const importLine =
  /^(?:import\b|from \S{1,200} import\b|export (?:type )?[*{].{0,200}(?: from |[{,]$)|use |using |require(?:_relative)?[ (]|#\s?include|package |mod \w+;)/;

/** Finds declarations by indentation and form. `owners` has one per line; `null`: skip. */
export function findDeclarations(lines: readonly string[], path: string) {
  const scan = new Scan(lines, formsOf(path));
  for (let at = 0; at < lines.length; at += 1) scan.take(at);
  return scan;
}

class Scan {
  readonly minors: MinorDeclaration[] = [];
  readonly owners: (Declaration | null | undefined)[] = [];
  readonly #lines: readonly string[];
  readonly #forms: readonly Form[];
  readonly #open: Open[] = [];
  /** Text that ends the current literal, comment or import of several lines. */
  #closing: string | undefined;
  #isImport = false;

  constructor(lines: readonly string[], forms: readonly Form[]) {
    this.#lines = lines;
    this.#forms = forms;
  }

  take(at: number): void {
    const line = this.#lines[at] ?? '';
    const text = line.trim();
    const isInLiteral = this.#passLiteral(line);
    if (!isInLiteral) {
      this.#isImport = importLine.test(text);
      this.#closing = this.#isImport ? closingOfImport(text) : closingOf(text);
    }
    if (this.#isImport) this.owners[at] = null;
    else if (isInLiteral || text === '' || isComment(line)) this.owners[at] = this.#owner;
    else this.#takeCode(at, text, line.length - line.trimStart().length);
  }

  /** Returns whether a line belongs to a literal, comment or import that an earlier line opened. */
  #passLiteral(line: string): boolean {
    // A template literal ends at the next declaration at the latest, because a single backtick may
    // be in a comment.
    if (this.#closing === '`' && /^(?:export|class|func) /.test(line)) this.#closing = undefined;
    const isInLiteral = this.#closing !== undefined;
    if (line.includes(this.#closing ?? '')) this.#closing = undefined;
    return isInLiteral;
  }

  #takeCode(at: number, text: string, indent: number): void {
    const closed = this.#closeAbove(text, indent);
    this.owners[at] = closed ?? this.#owner;
    if (closed !== undefined || continuation.test(text)) return;
    const top = this.#open.at(-1);
    if (top !== undefined) top.bodyIndent ??= indent;
    if (text.length > maxLine) return;
    const isDirect = top?.isContainer === true && top.bodyIndent === indent;
    const spaced = text.replaceAll(/\s+/g, ' ');
    const allowed = this.#forms.filter(([kind]) => isAllowed(kind, indent, isDirect));
    const form = allowed.find(([, pattern]) => pattern.test(spaced));
    if (form === undefined) return;
    const [kind, pattern] = form;
    this.#declare({ kind, at, indent, ...pattern.exec(spaced)?.groups });
  }

  /** Closes the declarations before a line. Returns the one that ends with the line. */
  #closeAbove(text: string, indent: number): Declaration | undefined {
    for (let top = this.#open.at(-1); top !== undefined && indent <= top.indent; ) {
      if (indent === top.indent && continuation.test(text)) return undefined;
      this.#open.pop();
      if (indent === top.indent && /^(?:\}|end\b)/.test(text)) return top.declaration;
      top = this.#open.at(-1);
    }
    return undefined;
  }

  #declare({ kind, at, indent, name, of }: Found): void {
    const above = this.#open.findLast(({ isContainer }) => isContainer || kind !== 'attribute');
    const around = above?.names ?? [];
    const outer = of === undefined ? around : [...around, of];
    const named = name?.split(/, ?/).map((one) => toNames(outer, one)) ?? [outer];
    const [names = outer, ...others] = named;
    const isContainer = containers.includes(kind);
    const isNamed = name !== undefined || of !== undefined;
    if (isNamed && !this.#isOwn(kind, at, indent)) {
      if (kind !== 'alias') this.minors.push(...named.map((one) => ({ names: one, at })));
      return;
    }
    const isDefinition = name !== undefined && kind !== 'alias';
    const depth = around.length;
    const declaration = isNamed ? this.#begin({ names, at, depth, isDefinition }) : this.#owner;
    this.minors.push(...others.map((one) => ({ names: one, at })));
    this.#open.push({ indent, isContainer, names, declaration, bodyIndent: undefined });
  }

  #begin(found: Omit<Declaration, 'start'>): Declaration {
    const { at } = found;
    const start = commentAbove(this.#lines, at)?.line ?? firstDecoration(this.#lines, at);
    const declaration = { ...found, start };
    this.owners.fill(declaration, start, at + 1);
    return declaration;
  }

  /** Returns whether a declaration has a comment, or a body and is not a field. */
  #isOwn(kind: DeclarationKind, at: number, indent: number): boolean {
    if (commentAbove(this.#lines, at) !== undefined) return true;
    if (kind === 'field' || kind === 'constant' || kind === 'alias' || kind === 'attribute')
      return false;
    if (indent === 0 || docstringBelow(this.#lines, at) !== undefined) return true;
    const next = this.#lines[at + 1] ?? '';
    return next.length - next.trimStart().length > indent;
  }

  get #owner(): Declaration | undefined {
    return this.#open.at(-1)?.declaration;
  }
}

function isAllowed(kind: DeclarationKind, indent: number, isDirect: boolean): boolean {
  if (kind === 'method' || kind === 'field') return isDirect;
  if (kind === 'object' || kind === 'constant') return isDirect || indent === 0;
  return true;
}

function toNames(outer: readonly string[], name: string): readonly string[] {
  return [...outer, ...toSteps(name)].slice(-maxNames);
}

function toSteps(name: string): readonly string[] {
  return name
    .replaceAll(/^[#:'"]+|['"]$/g, '')
    .split(/::|\./)
    .filter((step) => step !== '');
}

function closingOfImport(text: string): string | undefined {
  if (text.endsWith('{')) return '}';
  return text.endsWith('(') ? ')' : undefined;
}

function closingOf(text: string): string | undefined {
  if (text.startsWith('/*')) return text.includes('*/') ? undefined : '*/';
  if (isComment(text)) return undefined;
  const [, heredoc] = /<<[-~]?['"]?([A-Z_]{2,40})\b/.exec(text) ?? [];
  return heredoc ?? ['"""', "'''", '`'].find((mark) => text.split(mark).length % 2 === 0);
}

type DeclarationKind =
  | 'alias'
  | 'attribute'
  | 'constant'
  | 'container'
  | 'field'
  | 'function'
  | 'method'
  | 'object';

type Form = readonly [DeclarationKind, RegExp];

const script: readonly Form[] = [
  [
    'container',
    /^(?:export )?(?:default )?(?:declare )?(?:abstract |const )?(?:class|interface|enum|namespace|module) (?<name>[\w$]+)/,
  ],
  ['function', /^(?:export )?(?:default )?(?:declare )?(?:async )?function ?\*? ?(?<name>[\w$]+)/],
  ['container', /^(?:export )?(?:declare )?type (?<name>[\w$]+) ?[<=]/],
  [
    'object',
    /^(?:export )?(?:declare )?(?:const|let|var) (?<name>[\w$]+)(?:: [^=]{1,200})? = (?:[\w$.]{1,60}\()?\{$/,
  ],
  ['function', /^export (?:default )?(?:declare )?(?:const|let|var) (?<name>[\w$]+)/],
  [
    'function',
    /^(?:const|let|var) (?<name>[\w$]+)(?:: [^=]{1,200})? = (?:async )?(?:function\b|[\w$]+ =>|\([^()]{0,300}\)(?:: [^=]{1,100})? =>|\($)/,
  ],
  ['alias', /^(?:const|let|var) (?<name>[\w$]+) = require\b/],
  ['constant', /^(?:const|let|var) (?<name>[\w$]+)/],
  ['alias', /^(?:module\.)?exports\.(?<name>[\w$]+) ?= ?(?:require\b|[\w$.]+;?$)/],
  ['function', /^(?:module\.)?exports\.(?<name>[\w$]+) ?=/],
  ['object', /^module\.exports = \{$/],
  ['container', /^return \{$/],
  ['function', /^(?<of>[\w$]+)\.prototype\.(?<name>[\w$]+) ?=/],
  ['attribute', /^this\.(?<name>#?[\w$]+) = /],
  ['function', /^(?<of>[\w$]+)\.(?<name>[\w$]+) = (?:async )?(?:function\b|\([^()]{0,300}\) =>)/],
  [
    'method',
    /^(?:(?:public|private|protected|static|async|override|abstract|get|set) |\*)*(?!(?:if|for|while|switch|catch|return|super|await)\b)(?<name>#?[\w$]+)\??(?:<[^()]{1,200}>)?\(/,
  ],
  [
    'method',
    /^(?:(?:public|private|protected|static|readonly|override|declare) )*(?<name>['"]?#?[\w$-]+['"]?)[?!]?(?:: [^=]{1,200} =|:| =) (?:async )?(?:function\b|[\w$]+ =>|(?:<[^()]{1,100}>)?\()/,
  ],
  [
    'field',
    /^(?:(?:public|private|protected|static|readonly|override|declare|accessor) )*(?<name>['"]?#?[\w$-]+['"]?)[?!]?(?: ?[:=]|;$)/,
  ],
  // Member of an enum. Other lines of one name are usually the short form of a property.
  ['field', /^(?<name>[A-Z]\w*),?$/],
];

const python: readonly Form[] = [
  ['container', /^class (?<name>\w+)/],
  ['function', /^(?:async )?def (?<name>\w+)/],
  ['constant', /^(?!(?:else|try|finally)\b)(?<name>[A-Za-z_]\w*)(?:: [^=]{1,200} = |: | = )/],
  ['attribute', /^self\.(?<name>\w+)(?:: [^=]{1,200})? = /],
];

const ruby: readonly Form[] = [
  ['container', /^(?:class|module) (?<name>[A-Z][\w:]*)/],
  ['container', /^class << self/],
  ['container', /^(?<name>[A-Z]\w*) = (?:Struct|Class|Module|Data)\./],
  [
    'function',
    /^(?:(?:private|protected|public|module_function|private_class_method|memoize) )*def (?:self\.)?(?<name>\w+[?!=]?|[^\w\s(]{1,3})/,
  ],
  ['function', /^define_method[ (]:(?<name>\w+)/],
  ['field', /^attr(?:_reader|_writer|_accessor)? (?<name>:\w+(?:, :\w+){0,20})/],
  ['field', /^alias(?:_method)? (?<name>:?\w+[?!=]?)/],
  ['constant', /^(?<name>[A-Z]\w*) = /],
];

const go: readonly Form[] = [
  ['function', /^func (?:\((?:\w+ )?\*?(?<of>\w+)(?:\[[^[\]]{0,100}\])?\) )?(?<name>\w+)/],
  ['container', /^type (?<name>\w+)/],
  ['container', /^(?:type|const|var) \($/],
  ['constant', /^(?:const|var) (?<name>\w+)/],
  ['container', /^(?<name>\w+) (?:struct|interface) ?\{$/],
  ['field', /^(?!(?:case|default|return)\b)(?<name>[A-Za-z_]\w*)(?:[ (]|$)/],
];

const rust: readonly Form[] = [
  [
    'function',
    /^(?:pub(?:\([^()]{0,40}\))? )?(?:(?:default|async|unsafe|const|extern "C") )*fn (?<name>\w+)/,
  ],
  [
    'container',
    /^(?:pub(?:\([^()]{0,40}\))? )?(?:unsafe )?(?:struct|enum|union|trait|mod) (?<name>\w+)/,
  ],
  ['function', /^(?:macro_rules! |(?:pub(?:\([^()]{0,40}\))? )?type )(?<name>\w+)/],
  ['container', /^(?:unsafe )?impl(?:<[^{}]{0,200}>)? (?:[^{}]{1,200} for )?(?<of>\w+)/],
  ['constant', /^(?:pub(?:\([^()]{0,40}\))? )?(?:const|static(?: mut)?) (?<name>\w+)/],
  ['field', /^(?:pub(?:\([^()]{0,40}\))? )?(?<name>[A-Za-z_]\w*)(?::|,$| ?[({])/],
];

const others: readonly Form[] = [
  [
    'container',
    /^(?:(?:export|public|private|protected|internal|open|abstract|final|sealed|static|partial|data|readonly|typedef|case|inline) )*(?:class|interface|enum(?: class)?|record|struct|trait|object|protocol|extension|namespace|defmodule) (?<name>[A-Za-z_][\w.]*)/,
  ],
  [
    'function',
    /^(?:(?:public|private|protected|internal|open|override|abstract|final|static|suspend|inline|local) )*(?:fun|func|function|defp?|defmacro) &?(?:(?<of>\w+)[.:])?(?<name>\w+[?!]?)/,
  ],
  ['constant', /^# ?define (?<name>\w+)/],
  ['function', /^(?<name>[\w-]+) ?\(\) ?\{$/],
  [
    'method',
    /^(?!(?:return|new|else|throw|if|for|while|switch|catch)\b)(?:[\w<>[\],.?*&:~@]+ ){0,6}[*&]?(?<name>~?[A-Za-z_]\w*) ?\(/,
  ],
  [
    'constant',
    /^(?:(?:public|private|protected|internal|static|final|const|readonly|val|var|let) )+(?:[\w<>[\],.?]+ ){0,3}\$?(?<name>\w+) ?[:=;{]/,
  ],
];

const functionOfC: Form = [
  'function',
  /^(?!(?:return|else|typedef|using|if|for|while|switch)\b)(?:[\w:<>,*&]+ ){1,6}[*&]{0,2}(?:(?<of>\w+)::)?(?<name>\w+) ?\([^;]*$/,
];

const byExtension: ReadonlyMap<string, readonly Form[]> = new Map(
  (
    [
      ['ts tsx mts cts js jsx mjs cjs', script],
      ['py pyi', python],
      ['rb rake gemspec', ruby],
      ['go', go],
      ['rs', rust],
      ['c h cc cpp hpp', [...others, functionOfC]],
    ] as const
  ).flatMap(([extensions, forms]) => extensions.split(' ').map((one) => [one, forms] as const)),
);

function formsOf(path: string): readonly Form[] {
  return byExtension.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase()) ?? others;
}
