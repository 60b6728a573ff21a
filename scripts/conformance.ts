import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Scenarios of the MCP conformance test suite that do not apply to this server, each with the reason. */
const inapplicable: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^tools-call-/, 'requires a tool that the suite defines (`test_…`)'],
  [/^json-schema-2020-12$/, 'requires a tool that the suite defines (`json_schema_2020_12_tool`)'],
  [/^resources-(?:templates-)?read/, 'requires a resource that the suite defines (`test://…`)'],
  [/^resources-(?:un)?subscribe$/, 'not supported: resources do not change while the server runs'],
  [/^prompts-/, 'not supported: the server has no prompts'],
  [/^completion-/, 'not supported: the server has no arguments to complete'],
  [/^logging-/, 'not supported: the log is for the operator only'],
  [/^elicitation-/, 'no tool requests input from the client'],
  [
    /^input-required-result-(?!unsupported-methods|ignore-extra)/,
    'no tool requests input from the client',
  ],
  [/^http-custom-header-/, 'no tool declares a header (`x-mcp-header`)'],
  [/^(?:sep-2640-skills|tasks)-/, 'not supported: an extension'],
];

/** Checks of the MCP conformance suite that do not apply although their scenario applies, each with the reason. */
const inapplicableChecks: Readonly<Record<string, string>> = {
  'sep-2575-server-rejects-undeclared-capability': 'requires a tool that the suite defines',
  'sep-2575-missing-capability-http-400': 'requires a tool that the suite defines',
  'sep-2575-http-server-no-independent-requests-on-stream':
    'requires a tool that the suite defines',
  'sep-2575-server-no-log-without-loglevel': 'requires a tool that the suite defines',
};

interface Check {
  readonly id: string;
  readonly status: string;
  readonly description: string;
  readonly errorMessage?: string;
}

interface Scenario {
  readonly name: string;
  /**
   * MCP revisions that the scenario applies to, as the test suite lists them. For a scenario about
   * a protocol extension, the list contains `extension`.
   */
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

/** Runs a conformance scenario for one MCP revision and returns the results of its checks. */
async function runScenario(name: string, revision: string): Promise<readonly Check[]> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  const version = ['--spec-version', revision];
  try {
    const args = [main, 'server', '--url', url, '--scenario', name, '-o', folder, ...version];
    // The exit code is ignored, because it is also 1 for checks that do not apply.
    await run(node, args, { timeout: 60_000 }).catch(() => undefined);
    const found = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const file = found.find((path) => path.endsWith('checks.json'));
    if (file === undefined) throw new Error(`${name} (${revision}) wrote no checks.json.`);
    return JSON.parse(readFileSync(join(folder, file), 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Prints the results of a conformance scenario and returns the number of failed checks. */
function report(title: string, checks: readonly Check[]): number {
  const failures = checks.filter(({ status }) => status === 'FAILURE');
  const failed = failures.filter(({ id }) => inapplicableChecks[id] === undefined);
  const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
  const verdict = failed.length > 0 ? 'FAILS ' : passed > 0 ? 'passes' : 'n/a   ';
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
if (ran === 0) throw new Error('No scenario of the suite applies.');
console.log(`  ${ran} scenarios ran, ${failed} checks failed`);
process.exitCode = failed === 0 ? 0 : 1;
