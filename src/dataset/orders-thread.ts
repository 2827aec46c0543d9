import { parentPort, workerData } from 'node:worker_threads';
import { buildOrders, memoryOfOrders, type OrderKeys } from './orders.js';

// entry of a thread that sorts the keys it is given, hands over the orders, and ends
const orders = buildOrders(workerData as OrderKeys);
parentPort!.postMessage(orders, memoryOfOrders(orders));
