import { parentPort } from 'node:worker_threads';
import { Calls } from '../../model/calls.js';
import { type EncodedBlock, encodeBlock } from './write.js';

// entry of a thread that encodes the blocks of a native snapshot

new Calls(parentPort!, { encode: encodeBlock }, (_, { columns, records }: EncodedBlock) => [
  columns.buffer,
  records.buffer as ArrayBuffer,
]);
