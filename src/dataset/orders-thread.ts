import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { buildOrders, memoryOfOrders, type OrderKeys } from './orders.js';

// entry of a thread that waits for keys, sorts them, hands over the orders, and ends
const [keys] = (await once(parentPort!, 'message')) as [OrderKeys];
const orders = buildOrders(keys);
parentPort!.postMessage(orders, memoryOfOrders(orders));
