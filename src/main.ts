#!/usr/bin/env node
import { bearBrokenOutput } from './cli/output/output.ts';
import { endAtOnceWhereFirst } from './cli/stop-signal.ts';

process.setSourceMapsEnabled(true); // the build is bundled, and a stack should name the sources
bearBrokenOutput([process.stdout, process.stderr], process.exit);
endAtOnceWhereFirst();
// Loading the commands takes a while, in which a container may be stopped already.
const { runCommand } = await import('./cli/run.ts');
process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
