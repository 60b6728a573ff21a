import { type FoundHeading, readLines } from './plain-text.ts';
import { type ReadFile, toSuffixes } from './section.ts';

/** Parses reStructuredText. Heading levels follow first use; `py:function` etc. start sections. */
export function readRestructuredText(text: string): ReadFile {
  const levels: string[] = [];
  const { lines, definitions } = prepare(text.split('\n'));
  return readLines(
    lines.join('\n'),
    (all, at) => definitions.get(at) ?? findAdorned(all.slice(at, at + 3), levels),
  );
}

const adornment = /^([!-/:-@[-`{-~])\1{2,}\s*$/;

function findAdorned([first = '', second = '', third = '']: readonly string[], levels: string[]) {
  const over = adornment.exec(first)?.[1];
  if (over !== undefined && second.trim() !== '' && adornment.exec(third)?.[1] === over) {
    return { level: levelOf(`${over}${over}`, levels), text: second.trim(), lines: 3 };
  }
  const under = adornment.exec(second)?.[1];
  const isTitle = under !== undefined && /^\S/.test(first) && !adornment.test(first);
  if (!isTitle || second.trimEnd().length < first.trimEnd().length - 1) return undefined;
  return { level: levelOf(under, levels), text: first.trim(), lines: 2 };
}

function levelOf(mark: string, levels: string[]): number {
  if (!levels.includes(mark)) levels.push(mark);
  return levels.indexOf(mark) + 1;
}

interface Open {
  readonly kind: 'definition' | 'text' | 'code' | 'drop';
  readonly indent: number;
  readonly names: readonly string[];
  /** Indentation of the content; `undefined` before its first line. */
  content: number | undefined;
}

const definitionLevel = 40;

/** Replaces markup by line, to keep line numbers. `definitions`: sections by their line index. */
function prepare(source: readonly string[]) {
  const definitions = new Map<number, FoundHeading>();
  const open: Open[] = [];
  const lines = source.map((line, at) => {
    const indent = line.length - line.trimStart().length;
    if (line.trim() === '') return '';
    while (indent <= (open.at(-1)?.indent ?? -1)) open.pop();
    const directive = openDirective(line, indent, open);
    if (directive === undefined) return prepareLine(line, indent, open.at(-1));
    open.push(directive.open);
    const { names, kind } = directive.open;
    if (kind === 'definition') {
      const level = Math.min(definitionLevel + open.length, 2 * definitionLevel);
      definitions.set(at, { level, text: directive.text, lines: 1, defines: toSuffixes(names) });
    }
    return directive.text;
  });
  return { lines, definitions };
}

const documenting =
  /^(?:auto)?(?:function|method|staticmethod|classmethod|class|attribute|property|data|decorator|exception|option|cmdoption|envvar|describe|confval|setting|module|macro|type|struct|enum|member)$/;
const withCode =
  /^(?:code-block|code|sourcecode|highlight|literalinclude|prompt|doctest|testcode)$/;
const withoutText =
  /^(?:toctree|image|figure|include|contents|currentmodule|index|raw|only|tabularcolumns)$/;

function openDirective(line: string, indent: number, above: readonly Open[]) {
  const outer = above.at(-1);
  const isCode = outer?.kind === 'code' || outer?.kind === 'drop';
  if (isCode || !/^\s*\.\.(?: |$)/.test(line)) return undefined;
  const [, name = '', argument = ''] =
    /^\s*\.\. (?:[a-z]{1,8}:)?([\w+-]+)::(?: +(\S.{0,400}))?/.exec(line) ?? [];
  const isNamed = argument !== '' && documenting.test(name);
  const steps = isNamed ? toSteps(argument) : [];
  const names = [...(outer?.names ?? []), ...steps].slice(-maxNames);
  const kind = isNamed ? 'definition' : contentOf(name);
  const isVersion = /^(?:version|deprecated)/.test(name);
  const shown = isVersion ? `${name} ${replaceInline(argument)}` : replaceInline(argument);
  const texts = { definition: argument.trim(), text: shown, code: '', drop: '' };
  const open: Open = { kind, indent, names, content: undefined };
  return { open, text: texts[kind] };
}

const maxNames = 6;

function toSteps(argument: string): readonly string[] {
  const [name = ''] = argument.split(/[\s(,=[]/, 1);
  return name.split(/\.|::/).filter((step) => step !== '');
}

function contentOf(directive: string): Exclude<Open['kind'], 'definition'> {
  if (directive === '' || withoutText.test(directive)) return 'drop';
  return withCode.test(directive) ? 'code' : 'text';
}

function prepareLine(line: string, indent: number, within: Open | undefined): string {
  if (within === undefined) return replaceInline(line);
  if (within.content === undefined) {
    if (/^\s*:[\w-]+:/.test(line)) return ''; // an option of the directive
    within.content = indent;
  }
  const text = line.slice(Math.min(within.content, indent));
  if (within.kind === 'drop') return '';
  return within.kind === 'code' ? `    ${text}` : replaceInline(text);
}

function replaceInline(line: string): string {
  return line
    .replaceAll(
      /(?<![\w:+.-]):[\w:+.-]{1,40}:`~?([^`<]{1,200})(?:<[^`<>]{1,200}>)?`/g,
      (_, label: string) => `\`${label.trimEnd()}\``,
    )
    .replaceAll(/``([^`]{1,300})``/g, '`$1`')
    .replaceAll(/`([^`<]{1,200})<[^`<>]{1,300}>`__?/g, (_, label: string) => label.trimEnd())
    .replace(/::\s*$/, ':');
}
