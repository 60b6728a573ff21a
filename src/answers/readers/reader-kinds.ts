const extensions = {
  markdown: 'md markdown',
  mdx: 'mdx',
  restructuredText: 'rst rest',
  asciiDoc: 'adoc asciidoc asc',
  plainText: 'txt text',
  html: 'html htm xhtml',
  json: 'json',
  yaml: 'yaml yml',
  sourceCode:
    'ts tsx mts cts js jsx mjs cjs py pyi go rs java kt kts scala rb rake gemspec php c h cc cpp hpp cs swift lua ex exs sh bash',
} as const;

export type ReaderKind = keyof typeof extensions;

const kindByExtension: ReadonlyMap<string, ReaderKind> = new Map(
  (Object.keys(extensions) as ReaderKind[]).flatMap((kind) =>
    extensions[kind].split(' ').map((extension) => [extension, kind] as const),
  ),
);

/** Matches the names of text files that usually have no file extension, such as `README`. */
const namedTexts =
  /^(?:readme|changes|changelog|contributing|copying|install|licen[cs]e|news|todo)$/i;

/** Returns the format by the file name; `undefined` if no parser supports it. */
export function kindOf(path: string): ReaderKind | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  if (dot <= 0) return namedTexts.test(name) ? 'plainText' : undefined;
  return kindByExtension.get(name.slice(dot + 1).toLowerCase());
}
