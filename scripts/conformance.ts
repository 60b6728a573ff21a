import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Scenarios that do not apply to a server of tools and resources without sessions, and why. */
const inapplicable: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^tools-call-/, 'calls a tool of the suite’s own (`test_…`)'],
  [/^json-schema-2020-12$/, 'looks at a tool of the suite’s own (`json_schema_2020_12_tool`)'],
  [/^resources-(?:templates-)?read/, 'reads a resource of the suite’s own (`test://…`)'],
  [/^resources-(?:un)?subscribe$/, 'no resource changes while the server runs: not offered'],
  [/^prompts-/, 'there are no prompts'],
  [/^completion-/, 'there are no prompts and templates whose arguments could be completed'],
  [/^logging-/, 'the log is the operator’s: not offered'],
  [/^elicitation-/, 'no tool asks the client for anything'],
  [
    /^input-required-result-(?!unsupported-methods|ignore-extra)/,
    'no tool asks the client for anything',
  ],
  [/^http-custom-header-/, 'no tool names a header (`x-mcp-header`)'],
  [/^(?:sep-2640-skills|tasks)-/, 'an extension that is not offered'],
];

/** Single checks of scenarios that apply otherwise. */
const inapplicableChecks: Readonly<Record<string, string>> = {
  'sep-2575-server-rejects-undeclared-capability': 'calls a tool of the suite’s own',
  'sep-2575-missing-capability-http-400': 'calls a tool of the suite’s own',
  'sep-2575-http-server-no-independent-requests-on-stream': 'calls a tool of the suite’s own',
  'sep-2575-server-no-log-without-loglevel': 'calls a tool of the suite’s own',
  'sep-2549-prompts-list-caching-hints': 'there are no prompts',
};

interface Check {
  readonly id: string;
  readonly status: string;
  readonly description: string;
  readonly errorMessage?: string;
}

interface Scenario {
  readonly name: string;
  /** The revisions that it is for, as its suite tells; `extension` for those of none. */
  readonly revisions: readonly string[];
}

const run = promisify(execFile);
const [node = '', suite = '', url = ''] = process.argv.slice(2);
const main = join(suite, 'dist/index.js');

async function listScenarios(): Promise<readonly Scenario[]> {
  const { stdout } = await run(node, [main, 'list', '--server']);
  return [...stdout.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)].map(([, name = '', revisions = '']) => ({
    name,
    revisions: revisions.split(','),
  }));
}

/** Runs a scenario in a revision and gives its checks. */
async function runScenario(name: string, revision: string): Promise<readonly Check[]> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  const version = ['--spec-version', revision];
  try {
    const args = [main, 'server', '--url', url, '--scenario', name, '-o', folder, ...version];
    // Its exit code is 1 for a check that does not apply as well: the checks are what counts.
    await run(node, args, { timeout: 60_000 }).catch(() => undefined);
    const found = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const file = found.find((path) => path.endsWith('checks.json'));
    if (file === undefined) throw new Error(`${name} (${revision}) left no checks`);
    return JSON.parse(readFileSync(join(folder, file), 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Tells of the checks of a scenario; gives how many failed. */
function report(title: string, checks: readonly Check[]): number {
  const failures = checks.filter(({ status }) => status === 'FAILURE');
  const failed = failures.filter(({ id }) => inapplicableChecks[id] === undefined);
  const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
  const verdict = failed.length > 0 ? 'FAILS ' : passed > 0 ? 'passes' : 'moot  ';
  console.log(`  ${verdict}  ${title}: ${passed} checks`);
  for (const { id } of failures) {
    const reason = inapplicableChecks[id];
    if (reason !== undefined) console.log(`          ${id} does not apply: ${reason}`);
  }
  for (const { id, description, errorMessage = '' } of failed) {
    console.log(`          ${id}: ${description} ${errorMessage}`);
  }
  return failed.length;
}

let failed = 0;
let ran = 0;
for (const { name, revisions } of await listScenarios()) {
  const [, reason] = inapplicable.find(([pattern]) => pattern.test(name)) ?? [];
  if (reason !== undefined) {
    console.log(`  (none)  ${name} does not apply: ${reason}`);
    continue;
  }
  for (const revision of revisions) {
    failed += report(`${name} (${revision})`, await runScenario(name, revision));
    ran += 1;
  }
}
if (ran === 0) throw new Error('The suite has no scenario that applies.');
console.log(`  ${ran} scenarios ran, ${failed} checks failed`);
process.exitCode = failed === 0 ? 0 : 1;
