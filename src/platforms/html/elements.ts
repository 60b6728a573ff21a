import { TokenizerMode } from 'parse5';
import type { Facet } from '../../model/post.ts';

const toTable = <Value>(rows: readonly (readonly [Value, string])[]): ReadonlyMap<string, Value> =>
  new Map(rows.flatMap(([value, names]) => names.split(' ').map((name) => [name, value])));

const toNames = (names: string): ReadonlySet<string> => new Set(names.split(' '));

export const styles: ReadonlyMap<string, Facet['type']> = toTable<Facet['type']>([
  ['bold', 'b strong h1 h2 h3 h4 h5 h6 th'],
  ['italic', 'i em'],
  ['strikethrough', 'del s strike'],
  ['code', 'code pre tt kbd samp'],
]);

/** Number of line feeds before and after an HTML block element, by element name. */
export const blocks: ReadonlyMap<string, number> = toTable([
  [2, 'p pre blockquote ul ol dl table figure hr h1 h2 h3 h4 h5 h6'],
  [1, 'div li dt dd tr caption section article details summary figcaption'],
  [0, 'td th'],
]);

interface ImpliedEnds {
  readonly closed: ReadonlySet<string>;
  readonly within: ReadonlySet<string>;
}

export const impliedEnds: ReadonlyMap<string, ImpliedEnds> = toTable([
  [{ closed: toNames('li'), within: toNames('ul ol') }, 'li'],
  [{ closed: toNames('dt dd'), within: toNames('dl') }, 'dt dd'],
  [{ closed: toNames('td th caption'), within: toNames('tr table') }, 'td th'],
  [{ closed: toNames('td th tr caption'), within: toNames('table') }, 'tr'],
]);

export const cells: ReadonlySet<string> = toNames('td th');

/** Elements that can be closed from within a table cell, and the template, which is no text. */
export const containers: ReadonlySet<string> = toNames(
  'table thead tbody tfoot tr td th caption template',
);

/** Tokenizer modes for elements whose content is omitted. Tags in the content are text. */
export const rawModes: ReadonlyMap<
  string,
  (typeof TokenizerMode)['RAWTEXT' | 'RCDATA' | 'SCRIPT_DATA']
> = toTable<(typeof TokenizerMode)['RAWTEXT' | 'RCDATA' | 'SCRIPT_DATA']>([
  [TokenizerMode.SCRIPT_DATA, 'script'],
  [TokenizerMode.RAWTEXT, 'style iframe noembed noframes noscript'],
  [TokenizerMode.RCDATA, 'textarea title'],
]);

export const voids: ReadonlySet<string> = toNames(
  'area base br col embed hr img input link meta param source track wbr',
);

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ';
const subscripts = '₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₙ';
const shiftable = '0123456789+-−=()n';

/** Raises or lowers numbers and signs, as `10<sup>6</sup>` is not 106. Keeps other texts. */
export function shiftText(text: string, element: 'sup' | 'sub'): string {
  if (!/^[\d+\-−=()n]+$/.test(text)) return text;
  const shifted = element === 'sup' ? superscripts : subscripts;
  return text.replaceAll(/./g, (character) => shifted[shiftable.indexOf(character)] ?? character);
}
