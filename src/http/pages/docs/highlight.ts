import { escapeHtml } from '../../../render/html/escape.ts';

/** What a stretch of code is; each has a colour. */
type Kind = 'comment' | 'string' | 'number' | 'name' | 'word' | 'option';

/** What a language is made of; at each place the first that fits counts. */
type Grammar = readonly (readonly [Kind, RegExp])[];

// A string ends with its line and a comment with the text even where they are not closed. Patterns that
// required the end would look for it again from every start.
const doubleQuoted = /"(?:\\.|[^"\\\n])*"?/;
const singleQuoted = /'(?:\\.|[^'\\\n])*'?/;
const number = /(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])/;

const script: Grammar = [
  ['comment', /\/\/.*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?/],
  ['string', singleQuoted],
  ['string', doubleQuoted],
  ['string', /`(?:\\[\s\S]|[^`\\])*`?/],
  [
    'word',
    /\b(?:as|async|await|break|case|catch|class|const|continue|default|do|else|export|extends|false|finally|for|from|function|if|import|in|instanceof|interface|let|new|null|of|return|switch|this|throw|true|try|type|typeof|undefined|while|yield)\b/,
  ],
  ['number', number],
];

const markup: Grammar = [
  ['comment', /<!--(?:[^-]|-(?!->))*(?:-->)?/],
  ['word', /<[/!?]?[\w:-]+|[/?]?>/],
  ['option', /(?<![\w:-])[\w:-]+(?==")/],
  ['string', doubleQuoted],
];

/** The languages of the documentation. Others are shown as they are. */
const grammars = joinGrammars({
  sh: [
    ['comment', /(?<![^\s])#.*/],
    ['string', /'[^']*'?/],
    ['string', /"(?:\\[\s\S]|[^"\\])*"?/],
    ['name', /\$\{?\w+\}?|\b[A-Z_][A-Z0-9_]*(?==)/],
    ['option', /(?<=\s)--?[A-Za-z][\w-]*/],
    ['word', /[a-z](?<=(?:^|[|;&(])[ \t]*[a-z])[\w./-]*/m],
  ],
  json: [
    ['string', doubleQuoted],
    ['word', /\b(?:true|false|null)\b/],
    ['number', number],
  ],
  yaml: [
    ['comment', /(?<![^\s])#.*/],
    ['name', /^[ \t]*(?:- )?[\w./-]+(?=:(?:\s|$))/m],
    ['string', singleQuoted],
    ['string', doubleQuoted],
    ['word', /\b(?:true|false|null)\b/],
    ['number', number],
  ],
  http: [
    ['word', /^(?:HTTP\/[\d.]+ \d+|(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) .*)/m],
    ['name', /^[\w-]+(?=: )/m],
  ],
  js: script,
  ts: script,
  html: markup,
  xml: markup,
});

/** A language: one pattern with a group for each kind. */
interface Language {
  readonly kinds: readonly Kind[];
  readonly pattern: RegExp;
}

function joinGrammars(byName: Readonly<Record<string, Grammar>>): ReadonlyMap<string, Language> {
  return new Map(
    Object.entries(byName).map(([name, grammar]) => {
      const groups = grammar.map(([, { source }]) => `(${source})`);
      const kinds = grammar.map(([kind]) => kind);
      return [name, { kinds, pattern: new RegExp(groups.join('|'), 'gm') }];
    }),
  );
}

/** Gives code as HTML, with the parts of its language in elements of classes `t-…`. */
export function highlight(code: string, language: string): string {
  const grammar = grammars.get(language);
  if (grammar === undefined) return escapeHtml(code);
  const shown: string[] = [];
  let end = 0;
  for (const match of code.matchAll(grammar.pattern)) {
    const at = match.slice(1).findIndex((group) => group !== undefined);
    const kind = grammar.kinds[at] ?? 'word';
    shown.push(escapeHtml(code.slice(end, match.index)));
    end = match.index + match[0].length;
    const isName = kind === 'string' && language === 'json' && isColonAt(code, end);
    shown.push(mark(match[0], isName ? 'name' : kind));
  }
  return `${shown.join('')}${escapeHtml(code.slice(end))}`;
}

function isColonAt(code: string, at: number): boolean {
  const colon = /\s*:/y;
  colon.lastIndex = at;
  return colon.test(code);
}

function mark(text: string, kind: Kind): string {
  return `<span class="t-${kind}">${escapeHtml(text)}</span>`;
}

/** Tells the language of what a command printed, by its first line; `text` where it is none of ours. */
export function guessLanguage(output: string): string {
  if (/^[[{]/.test(output)) return 'json';
  return /^(?:HTTP\/|[\w-]+: )/.test(output) ? 'http' : 'text';
}
