/**
 * Kind of a declaration. `container` (can have members), `function`: at any depth. `object`,
 * `constant`: at the top level or directly in a container. `method`, `field`: directly in a
 * container. `attribute`: member assigned in a function. `alias`: second name.
 */
export type DeclarationKind =
  | 'alias'
  | 'attribute'
  | 'constant'
  | 'container'
  | 'field'
  | 'function'
  | 'method'
  | 'object';

/** Pattern for a line without indentation. Groups: `name` (declared names), `of` (their type). */
export type Form = readonly [DeclarationKind, RegExp];

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

/** Returns the forms of declarations in the programming language of a file. */
export function formsOf(path: string): readonly Form[] {
  return byExtension.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase()) ?? others;
}
