import { packagePath } from '../src/core/package-path.ts';
import { bundle } from './bundle.ts';

await bundle(packagePath('dist'));
