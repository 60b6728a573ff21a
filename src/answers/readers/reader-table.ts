import { readHtml } from './html.ts';
import { readMarkdown } from './markdown.ts';
import { readMdx } from './mdx.ts';
import { readOpenApiJson, readOpenApiYaml } from './openapi.ts';
import { readPlainText } from './plain-text.ts';
import { readRestructuredText } from './restructured-text.ts';
import type { ReadFile } from './section.ts';
import { readSourceCode } from './source-code.ts';

/** Takes a file apart; undefined for one that holds nothing to read, such as plain JSON. */
type FileReader = (text: string) => ReadFile | undefined;

const byExtension: Readonly<Record<string, FileReader>> = {
  md: readMarkdown,
  markdown: readMarkdown,
  mdx: readMdx,
  rst: readRestructuredText,
  txt: readPlainText,
  text: readPlainText,
  html: readHtml,
  htm: readHtml,
  xhtml: readHtml,
  json: readOpenApiJson,
  yaml: readOpenApiYaml,
  yml: readOpenApiYaml,
};

const sourceExtensions: ReadonlySet<string> = new Set(
  'ts tsx mts cts js jsx mjs cjs py pyi go rs java kt kts scala rb php c h cc cpp hpp cs swift lua ex exs sh bash'.split(
    ' ',
  ),
);

/** Files without an extension that are text by custom. */
const namedTexts =
  /^(?:readme|changes|changelog|contributing|copying|install|licen[cs]e|news|todo)$/i;

/** Gives what reads a file of this name; undefined where nothing does. */
export function readerOf(path: string): FileReader | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  if (dot <= 0) return namedTexts.test(name) ? readPlainText : undefined;
  const extension = name.slice(dot + 1).toLowerCase();
  if (sourceExtensions.has(extension)) return readSourceCode;
  return Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined;
}

/** Reads a file with its reader. One that its reader cannot bear, such as endless nesting, is read as plain text. */
export function readFileText(path: string, text: string): ReadFile | undefined {
  try {
    return readerOf(path)?.(text.replaceAll(/\r\n?/g, '\n'));
  } catch {
    return readPlainText(text);
  }
}
