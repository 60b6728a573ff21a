import { type DocSite, toDocPath } from '../docs/doc-page.ts';
import { toLink } from '../layout.ts';

/** The machine description, as the corpus of Perch names it. */
const description = { file: 'openapi/perch.json', path: '/openapi.json' } as const;

/** Where what an answer names is, on this site. */
export interface AnswerLinks {
  /** The names of the pages that citations and links lead to; none where answers are about something else. */
  readonly pages: readonly string[];
  /** Gives the address of a citation such as `docs/keys.md#get-a-key:12`; null where there is none here. */
  ofCitation(citation: string): string | null;
  /** Gives the address of a link in quoted documentation; null for what is no address here or on the web. */
  ofTarget(target: string): string | null;
}

/** Finds citations of pages in a text. */
export const citationPattern =
  /(?:docs\/[\w-]+\.md|openapi\/perch\.json)(?:#[\p{L}\p{M}\p{N}_-]+)?:\d+/gu;

/** Gives where an answer about the pages of a site leads. */
export function createAnswerLinks(site: DocSite): AnswerLinks {
  const toPage = (name: string, fragment: string) => {
    const page = site.library.find(name);
    return page === undefined ? null : `${toLink(toDocPath(page), site)}${fragment}`;
  };
  return {
    pages: site.library.pages.map(({ name }) => name),
    ofCitation: (citation) => {
      const [, path = '', fragment = ''] = /^([^#:]+)(#[^:]+)?:\d+$/.exec(citation) ?? [];
      if (path === description.file) return toLink(description.path, site);
      return toPage(/^docs\/([\w-]+)\.md$/.exec(path)?.[1] ?? '', fragment);
    },
    ofTarget: (target) => {
      const [, name = '', fragment = ''] =
        /^(?:\.\/)?(?:docs\/)?([\w-]+)\.md(#.*)?$/.exec(target) ?? [];
      return webAddress(target) ?? toPage(name, fragment);
    },
  };
}

/** Gives where an answer about other files leads: to addresses of the web alone. */
export function createForeignLinks(): AnswerLinks {
  return { pages: [], ofCitation: () => null, ofTarget: webAddress };
}

function webAddress(target: string): string | null {
  return /^https?:\/\//i.test(target) ? target : null;
}
