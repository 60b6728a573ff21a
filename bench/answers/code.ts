import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openIndexed } from './rig.ts';
import type { JudgedAnswer } from './scoring.ts';

/** Question about a repository in `repositories/`: a line of `code-questions.jsonl`. */
interface CodeQuestion {
  readonly repository: string;
  readonly question: string;
  /** File that answers the question; `null` if no file does. */
  readonly file: string | null;
  /** Code in the line that the answer must begin with. Absent if the question does not ask for a declaration. */
  readonly code?: string;
}

/** Answer to a question about a repository, and whether it is right. */
export interface CodeResult extends CodeQuestion {
  /** Whether the answer cites the right file first. For a question without an answer: whether it is declined. */
  readonly isFirst: boolean;
  /** Whether the answer begins with the path and the line of `code`, and then shows the code. */
  readonly isPlace: boolean;
  readonly answer: JudgedAnswer;
}

/** Asks all questions of `code-questions.jsonl` about the repositories. */
export async function askAboutCode(): Promise<readonly CodeResult[]> {
  const lines = readFileSync(join(import.meta.dirname, 'code-questions.jsonl'), 'utf8').trim();
  const questions = lines.split('\n').map((line): CodeQuestion => JSON.parse(line));
  const results: CodeResult[] = [];
  for (const name of new Set(questions.map(({ repository }) => repository))) {
    const { files, ask, close } = await openRepository(name);
    for (const one of questions.filter(({ repository }) => repository === name)) {
      results.push(judgeCode(one, await ask(one.question), files));
    }
    close();
  }
  return results;
}

/** Indexes a repository of `repositories/`. A line `=== path` begins each of its files. */
export async function openRepository(name: string) {
  const text = readFileSync(join(import.meta.dirname, 'repositories', `${name}.txt`), 'utf8');
  const parts = text.split(/^=== (.+)\n/m).slice(1);
  const paths = parts.filter((_, at) => at % 2 === 0);
  const files = new Map(paths.map((path, at) => [path, parts[2 * at + 1] ?? '']));
  const root = mkdtempSync(join(tmpdir(), 'perch-bench-code-'));
  for (const [path, content] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  const { index, ask } = await openIndexed({ name, root });
  rmSync(root, { recursive: true });
  return { files, ask, close: () => index.close() };
}

function judgeCode(
  question: CodeQuestion,
  answer: JudgedAnswer,
  files: ReadonlyMap<string, string>,
): CodeResult {
  const { file, code } = question;
  const isFirst = file === null ? answer.abstained : answer.citations[0]?.file === file;
  const lines = files.get(file ?? '')?.split('\n') ?? [];
  const [, path, line] = /^`([^`]+):(\d+)`\n\n```/.exec(answer.text) ?? [];
  const shown = lines[Number(line) - 1] ?? '';
  const isPlace = code !== undefined && path === file && shown.includes(code);
  return { ...question, answer, isFirst, isPlace };
}

const goal = 0.9;

/** Returns the lines of the section of `bench/results.md` about these questions. */
function printResults(results: readonly CodeResult[]): readonly string[] {
  const names = [...new Set(results.map(({ repository }) => repository)), 'all'];
  const share = (some: readonly CodeResult[], isRight: (one: CodeResult) => boolean) => {
    const right = some.filter(isRight).length;
    return `${right} of ${some.length}${right < goal * some.length ? ' †' : ''}`;
  };
  return [
    '## Questions about code',
    '',
    '`npx tsx bench/answers/code.ts`: questions about small made-up repositories, written before the engine was asked. The',
    'rules were corrected with some of them in view. *Right file first*: of the questions that a file answers. *Place',
    'first*: of the questions for a declaration, those whose answer begins with its path and line. A dagger (†) marks a',
    `share below the goal of ${goal}.`,
    '',
    '| repository | right file first | place first | unanswerable, declined or unsure |',
    '| --- | --- | --- | --- |',
    ...names.map((name) => {
      const own = results.filter(({ repository }) => name === 'all' || repository === name);
      const answerable = own.filter(({ file }) => file !== null);
      const others = own.filter(({ file }) => file === null);
      const places = own.filter(({ code }) => code !== undefined);
      const first = (one: CodeResult) => one.isFirst;
      const cells = [
        share(answerable, first),
        share(places, ({ isPlace }) => isPlace),
        share(others, first),
      ];
      return `| ${name} | ${cells.join(' | ')} |`;
    }),
  ];
}

// Usage: npx tsx bench/answers/code.ts [--misses]
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const results = await askAboutCode();
  console.log(printResults(results).join('\n'));
  const misses = results.filter((one) => !one.isFirst || (one.code !== undefined && !one.isPlace));
  for (const { question, answer, file } of process.argv.includes('--misses') ? misses : []) {
    const cited = answer.citations.map((one) => `  ${one.file}#${one.heading}:${one.line}`);
    console.log(`\n${question} → ${file}\n${cited.join('\n')}\n${answer.text.slice(0, 300)}`);
  }
}
