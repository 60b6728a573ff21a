import { readHtml } from './html.ts';
import { readMarkdown } from './markdown.ts';
import { readMdx } from './mdx.ts';
import { readOpenApiJson, readOpenApiYaml } from './openapi.ts';
import { readPlainText } from './plain-text.ts';
import { kindOf, type ReaderKind } from './reader-kinds.ts';
import { readRestructuredText } from './restructured-text.ts';
import type { ReadFile } from './section.ts';
import { readSourceCode } from './source-code.ts';

/** Takes a file apart; undefined for one that holds nothing to read, such as plain JSON. */
type FileReader = (text: string) => ReadFile | undefined;

const readers: Readonly<Record<ReaderKind, FileReader>> = {
  markdown: readMarkdown,
  mdx: readMdx,
  restructuredText: readRestructuredText,
  plainText: readPlainText,
  html: readHtml,
  json: readOpenApiJson,
  yaml: readOpenApiYaml,
  sourceCode: readSourceCode,
};

/** Reads a file with its reader. One that its reader cannot bear, such as endless nesting, is read as plain text. */
export function readFileText(path: string, text: string): ReadFile | undefined {
  const kind = kindOf(path);
  if (kind === undefined) return undefined;
  try {
    return readers[kind](text.replaceAll(/\r\n?/g, '\n'));
  } catch {
    return readPlainText(text);
  }
}
