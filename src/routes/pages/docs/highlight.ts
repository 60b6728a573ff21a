import { escapeHtml } from '../../../render/html/markup.ts';

type Kind = 'comment' | 'string' | 'number' | 'name' | 'word' | 'option';

type Grammar = readonly (readonly [Kind, RegExp])[];

// Unclosed tokens match too. Patterns that require the end of a token would be slow on unclosed
// tokens.
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

function joinGrammars(byName: Readonly<Record<string, Grammar>>) {
  return new Map(
    Object.entries(byName).map(([name, grammar]) => {
      const groups = grammar.map(([, { source }]) => `(${source})`);
      const kinds = grammar.map(([kind]) => kind);
      return [name, { kinds, pattern: new RegExp(groups.join('|'), 'gm') }] as const;
    }),
  );
}

/** Renders code as HTML: a `span` with a class such as `t-comment` for each token. */
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
    shown.push(`<span class="t-${isName ? 'name' : kind}">${escapeHtml(match[0])}</span>`);
  }
  return `${shown.join('')}${escapeHtml(code.slice(end))}`;
}

function isColonAt(code: string, at: number): boolean {
  const colon = /\s*:/y;
  colon.lastIndex = at;
  return colon.test(code);
}

/** Guesses the language from the first line; returns `text` if it is unknown. */
export function guessLanguage(output: string): string {
  if (/^[[{]/.test(output)) return 'json';
  return /^(?:HTTP\/|[\w-]+: )/.test(output) ? 'http' : 'text';
}
