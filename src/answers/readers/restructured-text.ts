import { type FoundHeading, readLines } from './plain-text.ts';
import type { ReadFile } from './section.ts';

/** Reads reStructuredText: adornments make headings in the order in which they first appear. */
export function readRestructuredText(text: string): ReadFile {
  const levels: string[] = [];
  return readLines(prepare(text), (lines, at) => findAdorned(lines, at, levels));
}

const adornment = /^([!-/:-@[-`{-~])\1{2,}\s*$/;

function findAdorned(
  lines: readonly string[],
  at: number,
  levels: string[],
): FoundHeading | undefined {
  const [first = '', second = '', third = ''] = lines.slice(at, at + 3);
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

/**
 * Makes roles and double backticks code spans, keeps what directives name (`.. function:: open(path)`)
 * and blanks other markup. Lines keep their numbers.
 */
function prepare(text: string): string {
  return text
    .split('\n')
    .map((line) =>
      line
        .replace(/^\s*\.\. _[^:]+:.*$/, '')
        .replace(/^(\s*)\.\. (?:code-block|code|highlight|toctree|image|figure|include)::.*$/, '')
        .replace(
          /^\s*\.\. (?:[\w-]+:)?(?:function|method|class|attribute|data|option|exception|envvar|describe|confval)::\s*(\S.*)$/,
          '- `$1`',
        )
        .replace(/^\s*\.\. [\w-]+::\s*(\S.*)?$/, '$1')
        .replaceAll(
          /(?<![\w:+.-]):[\w:+.-]{1,40}:`~?([^`<]{1,200})(?:<[^`<>]{1,200}>)?`/g,
          (_, label: string) => `\`${label.trimEnd()}\``,
        )
        .replaceAll(/``([^`]{1,300})``/g, '`$1`')
        .replaceAll(/`([^`<]{1,200})<[^`<>]{1,300}>`__?/g, (_, label: string) => label.trimEnd())
        .replace(/::\s*$/, ':'),
    )
    .join('\n');
}
