import { get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

// entry of a process whose connections read an export slowly, STEP_BYTES every STEP_MS, until it is
// killed; prints a line with an address once all of them have begun, as servers do

const [url, readers] = process.argv.slice(2);
const STEP_MS = 250;
const STEP_BYTES = 32 * 1024;

function open(): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url!, { agent: false }, (answer) => {
      if (answer.statusCode === 200) resolve(answer);
      else reject(new Error(`an export was answered with ${answer.statusCode}`));
    }).on('error', reject);
  });
}

async function take(answer: IncomingMessage): Promise<void> {
  for await (const chunk of answer) {
    await delay((STEP_MS * (chunk as Buffer).length) / STEP_BYTES);
  }
}

const answers = await Promise.all(Array.from({ length: Number(readers) }, open));
console.log(JSON.stringify({ address: url }));
await Promise.all(answers.map(take));
