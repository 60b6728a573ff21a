import { escapeHtml } from '../../render/html/escape.ts';

/** What a stretch of code is; each has a colour. */
type Kind = 'comment' | 'string' | 'number' | 'name' | 'word' | 'option';

/** What a language is made of; at each place the first that fits counts. */
type Grammar = readonly (readonly [Kind, RegExp])[];

const doubleQuoted = /"(?:\\.|[^"\\\n])*"/;
const singleQuoted = /'(?:\\.|[^'\\\n])*'/;
const number = /(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])/;

const script: Grammar = [
  ['comment', /\/\/.*|\/\*[\s\S]*?\*\//],
  ['string', singleQuoted],
  ['string', doubleQuoted],
  ['string', /`(?:\\.|[^`\\])*`/],
  [
    'word',
    /\b(?:as|async|await|break|case|catch|class|const|continue|default|do|else|export|extends|false|finally|for|from|function|if|import|in|instanceof|interface|let|new|null|of|return|switch|this|throw|true|try|type|typeof|undefined|while|yield)\b/,
  ],
  ['number', number],
];

const markup: Grammar = [
  ['comment', /<!--[\s\S]*?-->/],
  ['word', /<[/!?]?[\w:-]+|[/?]?>/],
  ['option', /[\w:-]+(?==")/],
  ['string', doubleQuoted],
];

/** The languages of the documentation. Others are shown as they are. */
const grammars: Readonly<Record<string, Grammar>> = {
  sh: [
    ['comment', /(?<![^\s])#.*/],
    ['string', /'[^']*'/],
    ['string', /"(?:\\.|[^"\\])*"/],
    ['name', /\$\{?\w+\}?|\b[A-Z_][A-Z0-9_]*(?==)/],
    ['option', /(?<=\s)--?[A-Za-z][\w-]*/],
    ['word', /(?<=(?:^|[|;&(])[ \t]*)[a-z][\w./-]*/m],
  ],
  json: [
    ['name', /"(?:\\.|[^"\\\n])*"(?=\s*:)/],
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
};

/** Gives code as HTML, with the parts of its language in elements of classes `t-…`. */
export function highlight(code: string, language: string): string {
  if (!Object.hasOwn(grammars, language)) return escapeHtml(code);
  const grammar = grammars[language] ?? [];
  const shown: string[] = [];
  let end = 0;
  for (const match of code.matchAll(joinGrammar(grammar))) {
    const at = match.slice(1).findIndex((group) => group !== undefined);
    const kind = grammar[at]?.[0] ?? 'word';
    shown.push(escapeHtml(code.slice(end, match.index)), mark(match[0], kind));
    end = match.index + match[0].length;
  }
  return `${shown.join('')}${escapeHtml(code.slice(end))}`;
}

function mark(text: string, kind: Kind): string {
  return `<span class="t-${kind}">${escapeHtml(text)}</span>`;
}

/** One pattern with a group for each part. */
function joinGrammar(grammar: Grammar): RegExp {
  return new RegExp(grammar.map(([, { source }]) => `(${source})`).join('|'), 'gm');
}

/** Tells the language of what a command printed, by its first line; `text` where it is none of ours. */
export function guessLanguage(output: string): string {
  if (/^[[{]/.test(output)) return 'json';
  return /^(?:HTTP\/|[\w-]+: )/.test(output) ? 'http' : 'text';
}
