import LinkHeader from 'http-link-header';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';

type Node = DefaultTreeAdapterTypes.Node;

/** A page of HTML, as far as links go. */
export interface HtmlLinks {
  /** The values of `href`, `src`, `action` and `srcset`, as they are written. */
  readonly targets: readonly string[];
  /** The ids that a fragment can lead to. */
  readonly ids: ReadonlySet<string>;
}

/** Reads the links and the anchors of a page of HTML. */
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

/** Gives the targets of a `Link` header. */
export function readLinkTargets(header: string | null): readonly string[] {
  return header === null ? [] : LinkHeader.parse(header).refs.map(({ uri }) => uri);
}

/** Finds the addresses under a base that a text names, in whatever way it marks them. */
export function findAddresses(text: string, base: string): readonly string[] {
  const escaped = base.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const found = text.matchAll(new RegExp(`${escaped}(?![\\w.:-])[^\\s"'<>\\\\^\`|)\\]]*`, 'g'));
  // What ends a sentence is no part of an address.
  return [...found].map(([address]) => address.replace(/[.,;:!?…]+$/, ''));
}

/** Gives every string in a JSON document, at any depth; names of members are none. */
export function listStrings(document: unknown): readonly string[] {
  if (typeof document === 'string') return [document];
  if (typeof document !== 'object' || document === null) return [];
  return Object.values(document).flatMap(listStrings);
}

/** The paths that a file of rules for crawlers allows and that are no patterns. */
export function readRobotsPaths(robots: string): readonly string[] {
  return [...robots.matchAll(/^Allow: (\/[^*\n]*)\$$/gm)].map(([, path = '']) => path);
}
