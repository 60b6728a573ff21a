/** Part of a model's text: words, code, unclosed code (`open`) or a citation (`marker`). */
export type Segment =
  | { readonly kind: 'words' | 'span' | 'block' | 'open'; readonly text: string }
  | { readonly kind: 'marker'; readonly text: string; readonly numbers: readonly number[] };

const numbers = String.raw`\^?\d{1,3}(?:\s?[,;–-]\s?\^?\d{1,3}){0,20}`;
const bracket = String.raw`(?:\[${numbers}\](?!\()|【${numbers}(?:\s?[^】\n\d\s,;–-][^】\n]{0,39})?】)`;

/** Completeness of a text. In a `part`, an unclosed backtick may begin code. */
export type Extent = 'part' | 'whole';

/** Patterns for citations such as `[1, 3]`, `[1-3]`, `[^1]`, `【1†…】`, and for code to skip. */
const forms = {
  block: String.raw`(?<block>(?<![^\n])[ \t]*(?<fence>\`{3,}(?!\`)|~{3,}(?!~))[^\n]*\n(?:[^\n]*\n)*?[ \t]*\k<fence>[\`~]*[ \t]*(?![^\n]))`,
  open: String.raw`(?<open>(?<![^\n])[ \t]*(?:\`{3,}|~{3,})[\s\S]*$)`,
  span: String.raw`(?<span>(?<!\`)(?<ticks>\`+)(?!\`)(?:(?!\n\s*\n)[\s\S])*?[^\`]\k<ticks>(?!\`))`,
  openSpan: String.raw`(?<openSpan>(?<!\`)\`+(?!\`)(?:(?!\n\s*\n)[\s\S])*$)`,
  marker: String.raw`(?<marker>${bracket}(?:[,;]?\s?${bracket})*)`,
} as const;

/** Characters that must follow a citation in a partial text, as `[1]` may become `[1], [2]`. */
const maxMarkerGap = 3;

/** Function that splits a text from the offset `from`, which must not be inside code. */
export type SplitSegments = (text: string, from: number, extent: Extent) => readonly Segment[];

/** Creates a splitter. Citations are passage numbers in brackets or locations in `places`. */
export function createSegmentSplitter(places: readonly string[]): SplitSegments {
  const quoted = places.map((place) => place.replaceAll(/[^\w]/g, '\\$&'));
  const either = quoted.length === 0 ? '(?!)' : quoted.join('|');
  const place = String.raw`(?<place>[\[(]?\`?(?<name>${either})(?!\d)\`?[\])]?)`;
  const { block, open, span, openSpan, marker } = forms;
  const tokens = {
    part: new RegExp([block, open, place, span, openSpan, marker].join('|'), 'g'),
    whole: new RegExp([block, open, place, span, marker].join('|'), 'g'),
  };
  return (text, from, extent) => {
    const segments: Segment[] = [];
    let at = from;
    tokens[extent].lastIndex = from;
    // `matchAll` copies the expression and starts at its `lastIndex`.
    for (const match of text.matchAll(tokens[extent])) {
      if (match.index > at) segments.push({ kind: 'words', text: text.slice(at, match.index) });
      segments.push(toSegment(match, places));
      at = match.index + match[0].length;
    }
    if (at < text.length) segments.push({ kind: 'words', text: text.slice(at) });
    return segments;
  };
}

function toSegment({ 0: text, groups = {} }: RegExpExecArray, places: readonly string[]): Segment {
  if (groups.name !== undefined) {
    return { kind: 'marker', text, numbers: [places.indexOf(groups.name) + 1] };
  }
  if (groups.marker !== undefined) return { kind: 'marker', text, numbers: toNumbers(text) };
  if (groups.block !== undefined) return { kind: 'block', text };
  return { kind: groups.span === undefined ? 'open' : 'span', text };
}

/** Returns the segments to the last citation; in a partial text, not one at the end. */
export function upToCitation(segments: readonly Segment[], extent: Extent): readonly Segment[] {
  let after = 0;
  for (let at = segments.length - 1; at >= 0; at -= 1) {
    const segment = segments[at];
    if (segment?.kind === 'marker' && (extent === 'whole' || after >= maxMarkerGap)) {
      return segments.slice(0, at + 1);
    }
    after += segment?.text.length ?? 0;
  }
  return [];
}

function toNumbers(marker: string): readonly number[] {
  const lists = [...marker.matchAll(/[[【]([\d\s,;^–-]+)/g)];
  return [...new Set(lists.flatMap(([, list = '']) => list.split(/[,;]/).flatMap(toRange)))];
}

/** Maximum length of a range such as `[1-3]`. A longer one is not a citation. */
const maxRange = 20;

function toRange(part: string): readonly number[] {
  const [first = Number.NaN, last = first] = (part.match(/\d+/g) ?? []).map(Number);
  if (last < first || last - first > maxRange) return [Number.NaN];
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

export const textOf = (segments: readonly Segment[]): string =>
  segments.map(({ text }) => text).join('');
