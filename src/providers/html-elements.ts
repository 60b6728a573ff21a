import { TokenizerMode } from 'parse5';
import type { Facet } from '../model/post.ts';

/** The elements that are a style. */
export const styles: ReadonlyMap<string, Facet['type']> = new Map([
  ...['b', 'strong', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((name) => [name, 'bold'] as const),
  ...['i', 'em'].map((name) => [name, 'italic'] as const),
  ...['del', 's', 'strike'].map((name) => [name, 'strikethrough'] as const),
  ...['code', 'pre', 'tt', 'kbd', 'samp'].map((name) => [name, 'code'] as const),
]);

/** How many line feeds stand around a block. */
export const blocks: ReadonlyMap<string, number> = new Map([
  ...['p', 'pre', 'blockquote', 'ul', 'ol', 'dl', 'table', 'figure', 'hr'].map(
    (name) => [name, 2] as const,
  ),
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((name) => [name, 2] as const),
  ...['div', 'li', 'dt', 'dd', 'tr', 'section', 'article', 'details', 'summary', 'figcaption'].map(
    (name) => [name, 1] as const,
  ),
]);

/** Elements of which the text is none: the parser reads no tags in them. */
export const rawModes: ReadonlyMap<
  string,
  (typeof TokenizerMode)['RAWTEXT' | 'RCDATA' | 'SCRIPT_DATA']
> = new Map([
  ['script', TokenizerMode.SCRIPT_DATA],
  ['style', TokenizerMode.RAWTEXT],
  ['iframe', TokenizerMode.RAWTEXT],
  ['noembed', TokenizerMode.RAWTEXT],
  ['noframes', TokenizerMode.RAWTEXT],
  ['textarea', TokenizerMode.RCDATA],
  ['title', TokenizerMode.RCDATA],
]);

/** Elements that have no end (HTML, void elements). */
export const voids: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);
