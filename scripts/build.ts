import { packagePath } from '../src/lib/files/package-path.ts';
import { hashInputs, isCurrent, writeStamp } from './build-stamp.ts';

const folder = packagePath('dist');
// Before the build, so that a file that changes during the build leads to another build next time.
const inputs = hashInputs(packagePath());

if (isCurrent(folder, inputs)) {
  // On standard error, because `npm pack` runs the build and prints the name of a file on standard output.
  console.error('dist is up to date.');
} else {
  // Loaded only if needed, because loading esbuild takes longer than the check.
  const { bundle } = await import('./bundle.ts');
  await bundle(folder);
  writeStamp(folder, inputs);
}
