import { packagePath } from '../src/core/files/package-path.ts';
import { bundle } from './bundle.ts';

await bundle(packagePath('dist'));
