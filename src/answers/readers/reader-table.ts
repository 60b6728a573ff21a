import { readAsciiDoc } from './asciidoc.ts';
import { readSourceCode } from './code/source-code.ts';
import { readHtml } from './html.ts';
import { readMarkdown, readMdx } from './markdown.ts';
import { readOpenApiJson, readOpenApiYaml } from './openapi.ts';
import { readPlainText } from './plain-text.ts';
import { kindOf, type ReaderKind } from './reader-kinds.ts';
import { readRestructuredText } from './restructured-text.ts';
import type { ReadFile } from './section.ts';

/** Parsers. They return `undefined` for files without documentation, such as other JSON. */
const readers: Readonly<Record<ReaderKind, (text: string, path: string) => ReadFile | undefined>> =
  {
    markdown: readMarkdown,
    mdx: readMdx,
    restructuredText: readRestructuredText,
    asciiDoc: readAsciiDoc,
    plainText: readPlainText,
    html: readHtml,
    json: readOpenApiJson,
    yaml: readOpenApiYaml,
    sourceCode: readSourceCode,
  };

/** Parses a file by its format, or as plain text if that parser throws. */
export function readFileText(path: string, text: string): ReadFile | undefined {
  const kind = kindOf(path);
  if (kind === undefined) return undefined;
  try {
    return readers[kind](text.replaceAll(/\r\n?/g, '\n'), path);
  } catch {
    return readPlainText(text);
  }
}

/** Decodes UTF-16 with a BOM, UTF-8 or Windows-1252; returns `undefined` for binary files. */
export function decodeText(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (bytes.subarray(0, 8192).includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
