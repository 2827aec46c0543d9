import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * What loading costs at the least in plain JavaScript: each line of an NDJSON file through
 * JSON.parse, the records kept in an array. No checks, no index. Prints an address when done, as
 * servers do.
 */
async function main(path: string): Promise<void> {
  const records: unknown[] = [];
  for await (const line of createInterface({ input: createReadStream(path) })) {
    records.push(JSON.parse(line));
  }
  console.log(JSON.stringify({ address: 'http://127.0.0.1:0', points: records.length }));
  // the process stays until its memory has been read
  process.stdin.resume();
  setTimeout(() => process.exit(), 60_000);
}

await main(process.argv[2]!);
