import { parentPort, workerData } from 'node:worker_threads';
import { serveThread } from './serve-thread.ts';

// Entry point of a worker thread, and therefore the only module of this folder with work on import.
if (parentPort !== null) serveThread(parentPort, workerData);
