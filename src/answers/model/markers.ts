/** A stretch of what a model says: words, code, a block of code without its end, or what it cites. */
export type Stretch =
  | { readonly kind: 'words' | 'span' | 'block' | 'open'; readonly text: string }
  | { readonly kind: 'marker'; readonly text: string; readonly numbers: readonly number[] };

const numbers = String.raw`\^?\d{1,3}(?:\s?[,;–-]\s?\^?\d{1,3})*`;
const bracket = String.raw`(?:\[${numbers}\](?!\()|【${numbers}[^】\n]{0,40}】)`;

/**
 * Code, so that `row[1]` in it is no citation; and citations in the forms that models write: `[1]`,
 * `[1, 3]`, `[1][2]`, `[1-3]`, `[^1]`, `【1†…】`. Code that is not closed goes to the end.
 */
const tokens = new RegExp(
  [
    String.raw`(?<block>(?<![^\n])[ \t]*(?<fence>\`{3,}|~{3,})[^\n]*\n(?:[^\n]*\n)*?[ \t]*\k<fence>[\`~]*[ \t]*(?![^\n]))`,
    String.raw`(?<open>(?<![^\n])[ \t]*(?:\`{3,}|~{3,})[\s\S]*$)`,
    String.raw`(?<span>(?<!\`)(?<ticks>\`+)(?!\`)(?:(?!\n\s*\n)[\s\S])*?[^\`]\k<ticks>(?!\`))`,
    String.raw`(?<marker>${bracket}(?:[,;]?\s?${bracket})*)`,
  ].join('|'),
  'g',
);

/** The longest that may stand between a citation and the next one that belongs to it. */
const settling = 3;

/** Tells apart the stretches of a text from `from` on; what comes before it is known to end outside of code. */
export function toStretches(text: string, from: number): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let at = from;
  tokens.lastIndex = from;
  for (let match = tokens.exec(text); match !== null; match = tokens.exec(text)) {
    if (match.index > at) stretches.push({ kind: 'words', text: text.slice(at, match.index) });
    stretches.push(toStretch(match));
    at = match.index + match[0].length;
  }
  if (at < text.length) stretches.push({ kind: 'words', text: text.slice(at) });
  return stretches;
}

function toStretch({ 0: text, groups = {} }: RegExpExecArray): Stretch {
  if (groups.marker !== undefined) return { kind: 'marker', text, numbers: toNumbers(text) };
  if (groups.span !== undefined) return { kind: 'span', text };
  return { kind: groups.open === undefined ? 'block' : 'open', text };
}

/**
 * Gives the stretches up to the last citation that is certain: of the text so far, one that the next
 * characters cannot make longer; of the whole, the last one.
 */
export function upToCitation(stretches: readonly Stretch[], isWhole: boolean): readonly Stretch[] {
  let after = 0;
  for (let at = stretches.length - 1; at >= 0; at -= 1) {
    const stretch = stretches[at];
    if (stretch?.kind === 'marker' && (isWhole || after >= settling)) {
      return stretches.slice(0, at + 1);
    }
    after += stretch?.text.length ?? 0;
  }
  return [];
}

/** `[1-3]` are three; what is in `【】` after the numbers is the model’s own affair. */
function toNumbers(marker: string): readonly number[] {
  const found = [...marker.matchAll(/[[【]([\d\s,;^–-]+)/g)].flatMap(([, list = '']) =>
    list.split(/[,;]/).flatMap((part) => toRange(part)),
  );
  return [...new Set(found)];
}

/** The most numbers of a range; more are no citations. */
const maxRange = 20;

function toRange(part: string): readonly number[] {
  const [first = Number.NaN, last = first] = (part.match(/\d+/g) ?? []).map(Number);
  if (last < first || last - first > maxRange) return [Number.NaN];
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}
