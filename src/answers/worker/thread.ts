import { parentPort, workerData } from 'node:worker_threads';
import { serveThread } from './serve-thread.ts';

// The entry of a thread: the one module here that works when it is loaded.
if (parentPort !== null) serveThread(parentPort, workerData);
