import { encodeComponent } from '../../core/encode-component.ts';
import { escapeHtml, escapeLine } from '../../render/html/escape.ts';
import { brandMark } from './brand-mark.ts';
import { renderCommand } from './command-block.ts';
import { type FrontFacts, listExamples, listSurfaces, nextLinks, sentence } from './front-facts.ts';
import { renderCode } from './inline-code.ts';
import { renderPage, type Site, toLink } from './layout.ts';

/** What stands below the box: what was asked, and what came of it. */
export interface FrontResult {
  /** What is in the box. */
  readonly text: string;
  /** The title of the window. */
  readonly title: string;
  readonly html: string;
}

/** Gives the front page; with a result it shows that first. */
export function renderFrontPage(
  facts: FrontFacts,
  site: Site,
  result: FrontResult | null = null,
): string {
  return renderPage(
    {
      title: result?.title ?? 'Perch',
      description: sentence,
      path: '/',
      section: 'home',
      kind: result === null ? 'front' : 'front has-result',
      bodyHtml: [
        renderBox(facts, site, result?.text ?? ''),
        '<p id="status" class="visually-hidden" role="status"></p>',
        `<section id="result" aria-label="Result" tabindex="-1">${result?.html ?? ''}</section>`,
        renderSurfaces(facts, site),
        renderNext(site),
      ].join('\n'),
      styles: ['front.css', 'result.css'],
      scripts: ['copy.js', 'front.js'],
      robots: result === null ? 'index' : 'noindex',
    },
    site,
  );
}

/** Gives the link of the page that reads a text. */
export function toQuestionLink(text: string, site: Site): string {
  return `${toLink('/', site)}?q=${encodeComponent(text)}#result`;
}

/** What the box takes: any address fits, and what does not can be sent as `q` all the same. */
const maxBoxCharacters = 2048;

function renderBox(facts: FrontFacts, site: Site, text: string): string {
  const examples = listExamples(facts).map(
    (one) => `<li><a href="${escapeHtml(toQuestionLink(one.text, site))}">${one.name}</a></li>`,
  );
  return `<section class="ask">
<h1>Read public posts as&nbsp;Markdown.</h1>
<p class="lede">${sentence} No&nbsp;account and no key is needed.</p>
<form id="ask" method="get" action="${escapeHtml(toLink('/', site))}#result">
<label for="q">Address of a post, profile or search, an @handle, or words to search for</label>
<div class="ask-line">${brandMark}
<input id="q" name="q" type="text" dir="auto" inputmode="url" required maxlength="${maxBoxCharacters}" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="https://x.com/jack/status/20" value="${escapeLine(text)}">
<button type="submit">Read</button>
</div>
</form>
<div class="examples"><p id="examples">Try</p><ul aria-labelledby="examples">${examples.join('')}</ul></div>
</section>`;
}

function renderSurfaces(facts: FrontFacts, site: Site): string {
  const surfaces = listSurfaces(facts).map(
    ({ name, text, example, docs }, index) => `<li>
<div>
<h3><a href="${escapeHtml(toLink(docs, site))}">${name}</a></h3>
<p>${renderCode(text)}</p>
</div>
${renderCommand({ id: `surface-${index}`, name: `the ${name} example`, command: example })}
</li>`,
  );
  return `<section class="surfaces" aria-labelledby="surfaces-title">
<h2 id="surfaces-title">Three ways in, the same reads</h2>
<ul>${surfaces.join('\n')}</ul>
</section>`;
}

function renderNext(site: Site): string {
  const links = nextLinks.map(
    ({ path, name, text }) =>
      `<li><a href="${escapeHtml(toLink(path, site))}">${name}</a> <span>${text}</span></li>`,
  );
  return `<section class="next" aria-labelledby="next-title">
<h2 id="next-title">Next</h2>
<ul>${links.join('\n')}</ul>
</section>`;
}
