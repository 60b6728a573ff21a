import LinkHeader from 'http-link-header';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';

type Node = DefaultTreeAdapterTypes.Node;

/** Links and anchors of an HTML page. */
export interface HtmlLinks {
  /** Raw values of `href`, `src`, `action` and `srcset`. */
  readonly targets: readonly string[];
  /** Ids that a fragment can refer to. */
  readonly ids: ReadonlySet<string>;
}

/** Parses the links and anchors of an HTML page. */
export function readHtmlLinks(html: string): HtmlLinks {
  const attributes = listAttributes(parse(html));
  const valuesOf = (...names: readonly string[]) =>
    attributes.filter(({ name }) => names.includes(name)).map(({ value }) => value);
  const sources = valuesOf('srcset').flatMap((set) =>
    set.split(',').map((one) => one.trim().split(' ', 1)[0] ?? ''),
  );
  return {
    targets: [...valuesOf('href', 'src', 'action'), ...sources],
    ids: new Set(valuesOf('id')),
  };
}

function listAttributes(node: Node): readonly { readonly name: string; readonly value: string }[] {
  const below = 'childNodes' in node ? node.childNodes.flatMap(listAttributes) : [];
  return [...('attrs' in node ? node.attrs : []), ...below];
}

/** Returns the targets of a `Link` header. */
export function readLinkTargets(header: string | null): readonly string[] {
  return header === null ? [] : LinkHeader.parse(header).refs.map(({ uri }) => uri);
}

/** Finds all URLs below a base URL in a text, in any markup. */
export function findAddresses(text: string, base: string): readonly string[] {
  const escaped = base.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const found = text.matchAll(new RegExp(`${escaped}(?![\\w.:-])[^\\s"'<>\\\\^\`|)\\]]*`, 'g'));
  // Punctuation at the end of a sentence is not part of a URL.
  return [...found].map(([address]) => address.replace(/[.,;:!?…]+$/, ''));
}

/** Returns all string values of a JSON document at any depth, without property names. */
export function listStrings(document: unknown): readonly string[] {
  if (typeof document === 'string') return [document];
  if (typeof document !== 'object' || document === null) return [];
  return Object.values(document).flatMap(listStrings);
}

/** Returns the paths without wildcards that a `robots.txt` allows. */
export function readRobotsPaths(robots: string): readonly string[] {
  return [...robots.matchAll(/^Allow: (\/[^*\n]*)\$$/gm)].map(([, path = '']) => path);
}
