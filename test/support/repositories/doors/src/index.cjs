// biome-ignore lint/performance/noBarrelFile: a second place that names the class
export { Door } from './door.ts';
