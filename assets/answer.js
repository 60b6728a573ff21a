// Markdown of answers as elements. Text becomes text nodes alone, so nothing in an answer is markup but
// what its Markdown says. The server has a renderer of its own for pages that are read without scripts.

/** Creates an element with its children, which are nodes or texts. */
function make(tag, attributes = {}, children = []) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * Creates the renderer of answers.
 * @param {{docs: string, description: string, pages: Set<string>}} site where pages are, and which there are
 * @returns {(markdown: string) => Node[]}
 */
// biome-ignore lint/correctness/noUnusedVariables: ask.js calls it
function createAnswerRenderer(site) {
  const inline = createInlineRenderer(createPlaces(site));
  return (markdown) => renderBlocks(markdown.split('\n'), inline);
}

/** What is nested deeper is shown as it is written. */
const deepest = 8;

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

/** Gives the block that begins at a line, null for an empty line, and the line after it. */
function renderBlock(lines, at, { inline, depth }) {
  const line = lines[at];
  if (line.trim() === '') return [null, at + 1];
  if (fenceLine.test(line)) return renderFence(lines, at);
  const [, heading] = headingLine.exec(line) ?? [];
  if (heading !== undefined) return [make('h3', {}, inline(heading)), at + 1];
  if (depth < deepest && quoteLine.test(line)) return renderQuote(lines, at, { inline, depth });
  if (depth < deepest && itemLine.test(line)) return renderList(lines, at, { inline, depth });
  return renderParagraph(lines, at, inline);
}

function renderFence(lines, at) {
  const [, indent, mark] = fenceLine.exec(lines[at]);
  const isEnd = (line) =>
    line.trim().length >= mark.length && line.trim() === mark[0].repeat(line.trim().length);
  let end = at + 1;
  while (end < lines.length && !isEnd(lines[end])) end += 1;
  // As far as the fence is indented, its lines are.
  const indented = new RegExp(`^ {0,${indent.length}}`);
  const text = lines.slice(at + 1, end).map((line) => line.replace(indented, ''));
  const code = make('code', {}, [text.join('\n')]);
  return [make('div', { class: 'code' }, [make('pre', {}, [code])]), end + 1];
}

function renderQuote(lines, at, { inline, depth }) {
  const end = endOf(lines, at, (line) => quoteLine.test(line));
  const inner = lines.slice(at, end).map((line) => quoteLine.exec(line)[1]);
  return [make('blockquote', {}, renderBlocks(inner, inline, depth + 1)), end];
}

function renderParagraph(lines, at, inline) {
  const begins = (line) =>
    [fenceLine, headingLine, quoteLine, itemLine].some((pattern) => pattern.test(line));
  const end = endOf(lines, at + 1, (line) => line.trim() !== '' && !begins(line));
  const text = lines.slice(at, end).map((line) => line.trim());
  return [make('p', {}, inline(text.join('\n'))), end];
}

function endOf(lines, from, fits) {
  let end = from;
  while (end < lines.length && fits(lines[end], end)) end += 1;
  return end;
}

/** Items go on with lines that are indented as their text is; a paragraph of one item has no `<p>`. */
function renderList(lines, at, { inline, depth }) {
  const isOrdered = (line) => /^ *\d/.test(line);
  const list = make(isOrdered(lines[at]) ? 'ol' : 'ul');
  let next = at;
  while (next < lines.length && itemLine.test(lines[next])) {
    if (isOrdered(lines[next]) !== isOrdered(lines[at])) break;
    const [, mark, first] = itemLine.exec(lines[next]);
    const isIndented = (line = '') => line.startsWith(' '.repeat(mark.length));
    const isMore = (line, number) =>
      isIndented(line) || (line.trim() === '' && isIndented(lines[number + 1]));
    const end = endOf(lines, next + 1, isMore);
    const rest = lines.slice(next + 1, end).map((line) => line.slice(mark.length));
    const blocks = renderBlocks([first, ...rest], inline, depth + 1);
    list.append(make('li', {}, blocks.flatMap(unwrap)));
    next = end;
  }
  return [list, next];
}

function unwrap(block, index, blocks) {
  const isLone = block.tagName === 'P' && (index === 0 || blocks[index - 1].tagName !== 'P');
  return isLone ? [...block.childNodes] : [block];
}

/** What stands within a line, the first that fits at a place; what fits none is text. */
const inlinePattern =
  /\\(?<escaped>[!-/:-@[-`{-~])|(?<ticks>`+)(?<code>[^`]|[^`][\s\S]*?[^`])\k<ticks>(?!`)|!?\[(?<label>(?:[^[\]\\]|\\.|\[[^[\]]*\])*)\]\(\s*<?(?<target>[^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?(?:\s+"[^"]*")?\s*\)|<(?<address>https?:\/\/[^\s<>]+)>|\*\*(?=\S)(?<strong>[^*]*(?:\*(?!\*)[^*]*)*\S)\*\*|\*(?=[^\s*])(?<emphasis>[^*]*[^\s*])\*(?!\*)|(?<![\p{L}\p{N}])_(?=[^\s_])(?<underlined>[^_]*[^\s_])_(?![\p{L}\p{N}])/gu;

function createInlineRenderer(places) {
  const render = (text) => {
    const nodes = [];
    let end = 0;
    for (const match of text.matchAll(inlinePattern)) {
      nodes.push(...linkCitations(text.slice(end, match.index), places));
      nodes.push(...renderMatch(match.groups, match[0]));
      end = match.index + match[0].length;
    }
    return [...nodes, ...linkCitations(text.slice(end), places)];
  };
  const renderMatch = (found, whole) => {
    const { escaped, code, address, label } = found;
    if (escaped !== undefined) return [escaped];
    if (code !== undefined) return [renderCodeSpan(code, places)];
    if (address !== undefined) return [renderLink(address, [address], places)];
    return label === undefined ? renderStress(found) : renderLabel(found, whole);
  };
  const renderStress = ({ strong, emphasis, underlined }) =>
    strong === undefined
      ? [make('em', {}, render(emphasis ?? underlined))]
      : [make('strong', {}, render(strong))];
  /** A picture would be asked for elsewhere; what it shows is said. */
  const renderLabel = ({ label, target }, whole) =>
    whole.startsWith('!') ? [label] : [renderLink(target, render(label), places)];
  return render;
}

/** A span that begins and ends with a space holds a backtick at its edge. */
function renderCodeSpan(code, places) {
  const text = /^ .*[^ ].* $/s.test(code) ? code.slice(1, -1) : code;
  const span = make('code', {}, [text.replaceAll('\n', ' ')]);
  const href = places.ofCitation(text);
  return href === null ? span : make('a', { href }, [span]);
}

function renderLink(target, children, places) {
  const href = places.ofTarget(target);
  if (href === null) return make('span', {}, children);
  const isElsewhere = /^https?:/i.test(href);
  return make(
    'a',
    isElsewhere ? { href, rel: 'nofollow noopener noreferrer' } : { href },
    // No link stands within another.
    children.map((child) => (child.tagName === 'A' ? child.textContent : child)),
  );
}

const citationPattern = /(?:docs\/[\w-]+\.md|openapi\/perch\.json)(?:#[\p{L}\p{M}\p{N}_-]+)?:\d+/gu;

function linkCitations(text, places) {
  const nodes = [];
  let end = 0;
  for (const { 0: citation, index } of text.matchAll(citationPattern)) {
    const href = places.ofCitation(citation);
    if (href === null) continue;
    nodes.push(text.slice(end, index), make('a', { href }, [citation]));
    end = index + citation.length;
  }
  return [...nodes, text.slice(end)].filter((node) => node !== '');
}

/** Gives where citations and links lead; null for what is no page of this site and not on the web. */
function createPlaces({ docs, description, pages }) {
  const toPage = (name, fragment) => (pages.has(name) ? `${docs}/${name}${fragment}` : null);
  return {
    ofCitation: (citation) => {
      const [, path = '', fragment = ''] = /^([^#:]+)(#[^:]+)?:\d+$/.exec(citation) ?? [];
      if (path === 'openapi/perch.json' && pages.size > 0) return description;
      return toPage(/^docs\/([\w-]+)\.md$/.exec(path)?.[1] ?? '', fragment);
    },
    ofTarget: (target) => {
      if (/^https?:\/\//i.test(target)) return target;
      const [, name = '', fragment = ''] =
        /^(?:\.\/)?(?:docs\/)?([\w-]+)\.md(#.*)?$/.exec(target) ?? [];
      return toPage(name, fragment);
    },
  };
}
