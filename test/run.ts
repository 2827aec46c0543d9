import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

/** A file that runs longer hangs: a handle leaked, or an awaited event never came. */
const LIMIT_MS = 600_000;

interface Outcome {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
  /** What the file printed, shown when it failed. */
  readonly output: string;
}

/**
 * Runs every compiled `*.test.js`, or those whose name contains one of the arguments, each in a process of
 * its own. A file that counts no test has failed: uvu passes it when `test.run()` is missing.
 */
async function main(wanted: readonly string[]): Promise<void> {
  const folder = import.meta.dirname;
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js'))
    .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
    .sort();
  const outcomes: Outcome[] = [];
  const queue = [...files];
  const work = async (): Promise<void> => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const outcome = await runFile(folder, file);
      outcomes.push(outcome);
      report(outcome);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));

  const total = (key: 'passed' | 'failed' | 'skipped'): number =>
    outcomes.reduce((sum, outcome) => sum + outcome[key], 0);
  const skipped = total('skipped') > 0 ? `, ${total('skipped')} skipped` : '';
  console.log(`\n${total('passed')} passed, ${total('failed')} failed${skipped}`);
  if (total('failed') > 0 || total('passed') === 0) process.exitCode = 1;
}

async function runFile(folder: string, file: string): Promise<Outcome> {
  const started = performance.now();
  const child = spawn(process.execPath, ['--enable-source-maps', join(folder, file)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const timer = setTimeout(() => {
    output += `\nended after ${LIMIT_MS / 1000} s\n`;
    child.kill('SIGKILL');
  }, LIMIT_MS);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearTimeout(timer);

  const count = (label: string): number =>
    Number(new RegExp(`^\\s*${label}:\\s+(\\d+)`, 'm').exec(plain(output))?.[1] ?? 0);
  const total = count('Total');
  const passed = count('Passed');
  const broken = code !== 0 || total === 0 ? 1 : 0;
  return {
    file,
    passed,
    failed: Math.max(total - passed, broken),
    skipped: count('Skipped'),
    seconds: (performance.now() - started) / 1000,
    output: total === 0 ? `${output}\nno test ran: is test.run() missing?` : output,
  };
}

function report({ file, passed, failed, skipped, seconds, output }: Outcome): void {
  const note = skipped > 0 ? `, ${skipped} skipped` : '';
  console.log(`${failed > 0 ? 'FAIL' : 'ok  '} ${file} (${passed}${note}) ${seconds.toFixed(1)} s`);
  if (failed > 0 || skipped > 0) console.log(output);
}

/** Without the colours. */
function plain(text: string): string {
  return text.replaceAll(/\u001b\[\d+m/g, '');
}

await main(process.argv.slice(2));
