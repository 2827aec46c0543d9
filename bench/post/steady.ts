import { openLoop } from '../generators/open.js';
import { LIST } from '../places.js';
import { POST_BODY } from './posting.js';

// entry of a process that posts evenly: within the process that measures reads, posting would delay
// the measurement

const [base, seconds, rate] = process.argv.slice(2);
const { errors } = await openLoop({
  base: base!,
  paths: [{ path: LIST, body: POST_BODY }],
  connections: Math.ceil(Number(rate) / 8),
  warmupSeconds: 0,
  seconds: Number(seconds),
  rate: Number(rate),
});
if (Object.keys(errors).length > 0) throw new Error(`Posts failed: ${JSON.stringify(errors)}`);
