#!/usr/bin/env node
import { bearBrokenOutput } from './commands/output.ts';
import { runCommand } from './commands/run.ts';

bearBrokenOutput([process.stdout, process.stderr], process.exit);
process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
