import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { buildOrders, type OrderKeys } from './orders.js';

// entry of a thread that waits for keys, sorts them, shares the orders, and ends; without keys it
// just ends
const [keys] = (await once(parentPort!, 'message')) as [OrderKeys | undefined];
if (keys !== undefined) parentPort!.postMessage(buildOrders(keys));
