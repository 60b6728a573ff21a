import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../../lib/entry-point.ts';
import { serveThread } from './serve-thread.ts';

// Entry point of a worker thread. No other module of this folder runs code on import.
if (process.platform === 'linux') lowerPriority();
if (parentPort !== null) serveThread(parentPort, workerData);
