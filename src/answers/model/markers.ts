/** A stretch of what a model says: words, code (`open` has no end), or what it cites. */
export type Stretch =
  | { readonly kind: 'words' | 'span' | 'block' | 'open'; readonly text: string }
  | { readonly kind: 'marker'; readonly text: string; readonly numbers: readonly number[] };

const numbers = String.raw`\^?\d{1,3}(?:\s?[,;–-]\s?\^?\d{1,3}){0,20}`;
const bracket = String.raw`(?:\[${numbers}\](?!\()|【${numbers}(?:\s?[^】\n\d\s,;–-][^】\n]{0,39})?】)`;

/** Whether a text is whole, or more may come: then a backtick without another one may still become code. */
export type Extent = 'part' | 'whole';

/**
 * Code, so that `row[1]` in it is no citation; and citations in the forms that models write: `[1]`,
 * `[1, 3]`, `[1][2]`, `[1-3]`, `[^1]`, `【1†…】`. Code that is not closed goes to the end.
 */
const forms = {
  block: String.raw`(?<block>(?<![^\n])[ \t]*(?<fence>\`{3,}(?!\`)|~{3,}(?!~))[^\n]*\n(?:[^\n]*\n)*?[ \t]*\k<fence>[\`~]*[ \t]*(?![^\n]))`,
  open: String.raw`(?<open>(?<![^\n])[ \t]*(?:\`{3,}|~{3,})[\s\S]*$)`,
  span: String.raw`(?<span>(?<!\`)(?<ticks>\`+)(?!\`)(?:(?!\n\s*\n)[\s\S])*?[^\`]\k<ticks>(?!\`))`,
  openSpan: String.raw`(?<openSpan>(?<!\`)\`+(?!\`)(?:(?!\n\s*\n)[\s\S])*$)`,
  marker: String.raw`(?<marker>${bracket}(?:[,;]?\s?${bracket})*)`,
} as const;

/** Maximum number of characters between a citation and the next one that belongs to it. */
const settling = 3;

/** Splits a text from a place on, before which no code is open, into its stretches. */
export type ToStretches = (text: string, from: number, extent: Extent) => readonly Stretch[];

/**
 * Creates the splitting for passages with these places, by their numbers from 1: a model may write the
 * place itself, as `path#heading:line`, where it was told a number.
 */
export function createToStretches(places: readonly string[]): ToStretches {
  const quoted = places.map((place) => place.replaceAll(/[^\w]/g, '\\$&'));
  const either = quoted.length === 0 ? '(?!)' : quoted.join('|');
  const place = String.raw`(?<place>[\[(]?\`?(?<name>${either})(?!\d)\`?[\])]?)`;
  const { block, open, span, openSpan, marker } = forms;
  const tokens = {
    part: new RegExp([block, open, place, span, openSpan, marker].join('|'), 'g'),
    whole: new RegExp([block, open, place, span, marker].join('|'), 'g'),
  };
  return (text, from, extent) => {
    const stretches: Stretch[] = [];
    let at = from;
    tokens[extent].lastIndex = from;
    // `matchAll` works with a copy of the expression, from its `lastIndex` on.
    for (const match of text.matchAll(tokens[extent])) {
      if (match.index > at) stretches.push({ kind: 'words', text: text.slice(at, match.index) });
      stretches.push(toStretch(match, places));
      at = match.index + match[0].length;
    }
    if (at < text.length) stretches.push({ kind: 'words', text: text.slice(at) });
    return stretches;
  };
}

function toStretch({ 0: text, groups = {} }: RegExpExecArray, places: readonly string[]): Stretch {
  if (groups.name !== undefined) {
    return { kind: 'marker', text, numbers: [places.indexOf(groups.name) + 1] };
  }
  if (groups.marker !== undefined) return { kind: 'marker', text, numbers: toNumbers(text) };
  if (groups.block !== undefined) return { kind: 'block', text };
  return { kind: groups.span === undefined ? 'open' : 'span', text };
}

/** Returns the stretches up to the last citation; of a part of a text, up to one that can become no longer. */
export function upToCitation(stretches: readonly Stretch[], extent: Extent): readonly Stretch[] {
  let after = 0;
  for (let at = stretches.length - 1; at >= 0; at -= 1) {
    const stretch = stretches[at];
    if (stretch?.kind === 'marker' && (extent === 'whole' || after >= settling)) {
      return stretches.slice(0, at + 1);
    }
    after += stretch?.text.length ?? 0;
  }
  return [];
}

/** Returns the numbers of a citation: `[1-3]` are three. What follows them in `【】` means nothing here. */
function toNumbers(marker: string): readonly number[] {
  const lists = [...marker.matchAll(/[[【]([\d\s,;^–-]+)/g)];
  return [...new Set(lists.flatMap(([, list = '']) => list.split(/[,;]/).flatMap(toRange)))];
}

/** Maximum span of a range of numbers; more are no citations. */
const maxRange = 20;

function toRange(part: string): readonly number[] {
  const [first = Number.NaN, last = first] = (part.match(/\d+/g) ?? []).map(Number);
  if (last < first || last - first > maxRange) return [Number.NaN];
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}
