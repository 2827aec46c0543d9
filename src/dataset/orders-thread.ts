import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { buildOrders, type OrderKeys } from './orders.js';

// entry of a thread that waits for keys, sorts them, shares the orders, and ends
const [keys] = (await once(parentPort!, 'message')) as [OrderKeys];
parentPort!.postMessage(buildOrders(keys));
