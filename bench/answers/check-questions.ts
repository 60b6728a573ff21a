import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fetchCorpus } from './corpora.ts';
import { type LabelledQuestion, type Place, readQuestions } from './questions.ts';
import { scratchFolder } from './rig.ts';
import { plain } from './scoring.ts';

/**
 * Paths of the question files to check. Default: the question files in `bench/answers`. For each question, the
 * script checks that the expected files, headings, lines and phrases exist in the documents that the question is
 * about. Usage: `npx tsx bench/answers/check-questions.ts [FILE...]`.
 */
const { positionals } = parseArgs({ allowPositionals: true });
const files =
  positionals.length > 0
    ? positionals
    : ['questions', 'questions-held-out', 'questions-blind'].map(
        (name) => `bench/answers/${name}.jsonl`,
      );

/** Returns the lines of a section in a file below `folder`, or of the whole file if `heading` is `null`. */
function sectionOf({ file, heading, line }: Place, folder: string): readonly string[] {
  const lines = readFileSync(join(folder, file), 'utf8').split('\n');
  if (heading === null) return lines;
  const levels = headingLevels(lines);
  const from = (line ?? 1) - 1;
  const level = levels[from] ?? 0;
  const end = levels.findIndex((one, at) => at > from && one > 0 && one <= level);
  return lines.slice(from, end < 0 ? undefined : end);
}

/** Returns the heading level of each line of a Markdown file; 0 if the line is not a heading. */
function headingLevels(lines: readonly string[]): readonly number[] {
  let fenced = false;
  return lines.map((line) => {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
    return fenced ? 0 : (/^(#{1,6}) /.exec(line)?.[1]?.length ?? 0);
  });
}

/** Returns the text of a heading line of `file` in lower case, without Markdown or HTML syntax. */
function headingAt(line: string, file: string): string {
  const text = file.endsWith('.html') ? line.replaceAll(/<[^>]*>/g, '') : line;
  return plain(text.replace(/^#{1,6} /, ''));
}

function faultOfPlace(place: Place, root: string, folder: string): string | undefined {
  const { file, heading, line } = place;
  if (!file.startsWith(`${root}/`)) return `${file} is not in ${root}`;
  if (!existsSync(join(folder, file))) return `${file} does not exist`;
  if (heading === null) return;
  if (line === undefined) return `${file} "${heading}" has no line`;
  const found = readFileSync(join(folder, file), 'utf8').split('\n')[line - 1];
  if (found === undefined) return `${file} has no line ${line}`;
  return headingAt(found, file) === plain(heading)
    ? undefined
    : `${file}:${line} is not the heading "${heading}" but "${found.trim()}"`;
}

function faultOfShape({ kind, answerable, expect, phrases }: LabelledQuestion): string | undefined {
  if (answerable === (kind === 'unanswerable')) return `${kind} does not fit "answerable"`;
  if (!answerable && expect.length + phrases.length > 0) return 'it expects an answer';
  if (answerable && phrases.length === 0) return 'it has no phrases';
  if (expect.some((group) => group.length === 0)) return 'a group has no places';
  const groups = answerable ? (kind === 'multi' ? 2 : 1) : 0;
  return expect.length === groups ? undefined : `${kind} needs ${groups} groups`;
}

/**
 * Returns a message for each phrase that occurs in none of the sections in `expect`. `folder`
 * contains the files of the sections.
 */
function faultsOfPhrases({ expect, phrases }: LabelledQuestion, folder: string): readonly string[] {
  const texts = expect.flat().map((place) => sectionOf(place, folder).join('\n'));
  return phrases
    .filter((phrase) => !texts.some((text) => text.includes(phrase)))
    .map((phrase) => `"${phrase}" occurs in no accepted place`);
}

function faultsOf(question: LabelledQuestion): readonly string[] {
  const folder = fetchCorpus(question.corpus, scratchFolder);
  const places = question.expect
    .flat()
    .flatMap((place) => faultOfPlace(place, question.root, folder) ?? []);
  const first = [faultOfShape(question) ?? [], places].flat();
  return first.length > 0 ? first : faultsOfPhrases(question, folder);
}

const seen = new Set<string>();
let faults = 0;
for (const question of files.flatMap((file) => readQuestions(file))) {
  const own = [...faultsOf(question), ...(seen.has(question.id) ? ['the id is taken'] : [])];
  seen.add(question.id);
  faults += own.length;
  for (const fault of own) console.log(`${question.id}: ${fault}`);
}
console.log(`${seen.size} questions, ${faults} faults.`);
process.exitCode = faults > 0 || seen.size === 0 ? 1 : 0;
