// Renders the Markdown of answers as DOM elements. Text becomes text nodes, so HTML in an answer has no
// effect. The server has its own renderer for pages without JavaScript (src/routes/pages/ask/ask-plugin.ts).

/** Creates an element. Its children are nodes or strings. */
function createElement(tag, attributes = {}, children = []) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * Creates a renderer of answers.
 * @param {{base: string, docs: string, description: string, pages: Set<string>}} site base URL, path of the
 *   documentation, path of the OpenAPI description, and names of the pages
 * @returns {(markdown: string) => Node[]}
 */
// biome-ignore lint/correctness/noUnusedVariables: ask.js calls it
function createAnswerRenderer(site) {
  const inline = createInlineRenderer(createLinks(site));
  return (markdown) => renderBlocks(markdown.split('\n'), inline);
}

/** Maximum nesting of quotes and lists. Deeper ones are shown as plain text. */
const maxDepth = 8;

const fenceLine = /^( {0,3})(`{3,}|~{3,}) *([^`]*)$/;
const headingLine = /^ {0,3}#{1,6} +(.*?)[ #]*$/;
const quoteLine = /^ {0,3}> ?(.*)$/;
const itemLine = /^( {0,3}(?:[-*+]|\d{1,9}[.)]) +)(.*)$/;

function renderBlocks(lines, inline, depth = 0) {
  const nodes = [];
  let at = 0;
  while (at < lines.length) {
    const [node, next] = renderBlock(lines, at, { inline, depth });
    if (node !== null) nodes.push(node);
    at = next;
  }
  return nodes;
}

/** Returns the block that starts at a line (`null` for an empty line) and the index of the line after it. */
function renderBlock(lines, at, { inline, depth }) {
  const line = lines[at];
  if (line.trim() === '') return [null, at + 1];
  if (fenceLine.test(line)) return renderFence(lines, at);
  const [, heading] = headingLine.exec(line) ?? [];
  if (heading !== undefined) return [createElement('h3', {}, inline(heading)), at + 1];
  if (depth < maxDepth && quoteLine.test(line)) return renderQuote(lines, at, { inline, depth });
  if (depth < maxDepth && itemLine.test(line)) return renderList(lines, at, { inline, depth });
  return renderParagraph(lines, at, inline);
}

function renderFence(lines, at) {
  const [, indent, mark] = fenceLine.exec(lines[at]);
  const isEnd = (line) =>
    line.trim().length >= mark.length && line.trim() === mark[0].repeat(line.trim().length);
  let end = at + 1;
  while (end < lines.length && !isEnd(lines[end])) end += 1;
  // The indentation of the fence is removed from each line (CommonMark, section 4.5).
  const indented = new RegExp(`^ {0,${indent.length}}`);
  const text = lines.slice(at + 1, end).map((line) => line.replace(indented, ''));
  const code = createElement('code', {}, [text.join('\n')]);
  return [createElement('div', { class: 'code' }, [createElement('pre', {}, [code])]), end + 1];
}

function renderQuote(lines, at, { inline, depth }) {
  const end = findEnd(lines, at, (line) => quoteLine.test(line));
  const inner = lines.slice(at, end).map((line) => quoteLine.exec(line)[1]);
  return [createElement('blockquote', {}, renderBlocks(inner, inline, depth + 1)), end];
}

function renderParagraph(lines, at, inline) {
  const startsBlock = (line) =>
    [fenceLine, headingLine, quoteLine, itemLine].some((pattern) => pattern.test(line));
  const end = findEnd(lines, at + 1, (line) => line.trim() !== '' && !startsBlock(line));
  const text = lines.slice(at, end).map((line) => line.trim());
  return [createElement('p', {}, inline(text.join('\n'))), end];
}

function findEnd(lines, from, continues) {
  let end = from;
  while (end < lines.length && continues(lines[end], end)) end += 1;
  return end;
}

/** Renders a list. Lines indented like the text of an item belong to it. */
function renderList(lines, at, { inline, depth }) {
  const isOrdered = (line) => /^ *\d/.test(line);
  const list = createElement(isOrdered(lines[at]) ? 'ol' : 'ul');
  let next = at;
  while (next < lines.length && itemLine.test(lines[next])) {
    if (isOrdered(lines[next]) !== isOrdered(lines[at])) break;
    const [, mark, first] = itemLine.exec(lines[next]);
    const isIndented = (line = '') => line.startsWith(' '.repeat(mark.length));
    const belongsToItem = (line, number) =>
      isIndented(line) || (line.trim() === '' && isIndented(lines[number + 1]));
    const end = findEnd(lines, next + 1, belongsToItem);
    const rest = lines.slice(next + 1, end).map((line) => line.slice(mark.length));
    const blocks = renderBlocks([first, ...rest], inline, depth + 1);
    list.append(createElement('li', {}, blocks.flatMap(unwrap)));
    next = end;
  }
  return [list, next];
}

/** Returns the content of a paragraph that does not follow another one, because tight lists have no `<p>`. */
function unwrap(block, index, blocks) {
  const isTight = block.tagName === 'P' && (index === 0 || blocks[index - 1].tagName !== 'P');
  return isTight ? [...block.childNodes] : [block];
}

/** Inline syntax: escape, code span, link or image, autolink, strong, emphasis. Everything else is text. */
const inlinePattern =
  /\\(?<escaped>[!-/:-@[-`{-~])|(?<ticks>`+)(?<code>[^`]|[^`][\s\S]*?[^`])\k<ticks>(?!`)|!?\[(?<label>(?:[^[\]\\]|\\.|\[[^[\]]*\])*)\]\(\s*<?(?<target>[^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?(?:\s+"[^"]*")?\s*\)|<(?<address>https?:\/\/[^\s<>]+)>|\*\*(?=\S)(?<strong>[^*]*(?:\*(?!\*)[^*]*)*\S)\*\*|\*(?=[^\s*])(?<emphasis>[^*]*[^\s*])\*(?!\*)|(?<![\p{L}\p{N}])_(?=[^\s_])(?<underlined>[^_]*[^\s_])_(?![\p{L}\p{N}])/gu;

function createInlineRenderer(links) {
  const render = (text) => {
    const nodes = [];
    let end = 0;
    for (const match of text.matchAll(inlinePattern)) {
      nodes.push(...linkCitations(text.slice(end, match.index), links));
      nodes.push(...renderMatch(match.groups, match[0]));
      end = match.index + match[0].length;
    }
    return [...nodes, ...linkCitations(text.slice(end), links)];
  };
  const renderMatch = (found, whole) => {
    const { escaped, code, address, label } = found;
    if (escaped !== undefined) return [escaped];
    if (code !== undefined) return [renderCodeSpan(code, links)];
    if (address !== undefined) return [renderLink(address, [address], links)];
    return label === undefined ? renderStress(found) : renderLabel(found, whole);
  };
  const renderStress = ({ strong, emphasis, underlined }) =>
    strong === undefined
      ? [createElement('em', {}, render(emphasis ?? underlined))]
      : [createElement('strong', {}, render(strong))];
  /** Renders a link, or the description of an image, because images would be requested from other hosts. */
  const renderLabel = ({ label, target }, whole) =>
    whole.startsWith('!') ? [label] : [renderLink(target, render(label), links)];
  return render;
}

/** Renders a code span. One space at both ends is removed, as in "`` `a` ``" (CommonMark, section 6.1). */
function renderCodeSpan(code, links) {
  const text = /^ .*[^ ].* $/s.test(code) ? code.slice(1, -1) : code;
  const span = createElement('code', {}, [text.replaceAll('\n', ' ')]);
  const href = links.ofCitation(text);
  return href === null ? span : createElement('a', { href }, [span]);
}

function renderLink(target, children, links) {
  const href = links.ofTarget(target);
  if (href === null) return createElement('span', {}, children);
  const isExternal = /^https?:/i.test(href);
  return createElement(
    'a',
    isExternal ? { href, rel: 'nofollow noopener noreferrer' } : { href },
    // Links cannot nest.
    children.map((child) => (child.tagName === 'A' ? child.textContent : child)),
  );
}

const citationPattern = /(?:docs\/[\w-]+\.md|openapi\/perch\.json)(?:#[\p{L}\p{M}\p{N}_-]+)?:\d+/gu;

function linkCitations(text, links) {
  const nodes = [];
  let end = 0;
  for (const { 0: citation, index } of text.matchAll(citationPattern)) {
    const href = links.ofCitation(citation);
    if (href === null) continue;
    nodes.push(text.slice(end, index), createElement('a', { href }, [citation]));
    end = index + citation.length;
  }
  return [...nodes, text.slice(end)].filter((node) => node !== '');
}

/** Creates functions that return the URL of a citation or link, or `null` if it is neither on this site nor on the web. */
function createLinks({ base, docs, description, pages }) {
  const toPage = (name, fragment) => (pages.has(name) ? `${docs}/${name}${fragment}` : null);
  return {
    ofCitation: (citation) => {
      const [, path = '', fragment = ''] = /^([^#:]+)(#[^:]+)?:\d+$/.exec(citation) ?? [];
      if (path === 'openapi/perch.json' && pages.size > 0) return description;
      return toPage(/^docs\/([\w-]+)\.md$/.exec(path)?.[1] ?? '', fragment);
    },
    ofTarget: (target) => {
      // A path also works if this page was opened at another address of the server.
      if (target.startsWith(`${base}/docs/`)) return docs + target.slice(`${base}/docs`.length);
      return /^https?:\/\//i.test(target) ? target : null;
    },
  };
}
