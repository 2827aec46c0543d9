import { parentPort, workerData } from 'node:worker_threads';
import { Calls, type Offer } from './calls.js';

// the entry of a thread that offers the functions of a module

const { module, given } = workerData as { readonly module: string; readonly given: unknown };
const { offer } = (await import(module)) as { offer(given: unknown): Offer | Promise<Offer> };
new Calls(parentPort!, ...(await offer(given)));
