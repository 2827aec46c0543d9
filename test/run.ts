import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { packSnapshot } from '../src/cli/pack.js';
import { type Outcome, runAll } from './runner/pool.js';
import { exitOnSignals, sourceLines } from './runner/protocol.js';
import { makeFolder } from './support/folder.js';

/** A file that prints nothing for so long, as after each test, hangs: the longest takes a minute. */
const LIMIT_MS = { test: 300_000, soak: 3_600_000 } as const;
const CLOSING_MS = 30_000;

/** A file with this comment, and a reason after it, shares its process with no other file. */
const OWN_PROCESS = /^\/\/ own process: \S/m;

const ASKS_FOR_SOAK = /\b(?:IS_SOAK|rounds|forAll)\b.* from '.*support\/(?:uvu|properties)\.js'/;

const FOLDER: string = import.meta.dirname;
/** Seconds of each file in earlier runs: the longest are started first. */
const SECONDS_FILE = join(FOLDER, 'seconds.json');

/**
 * Runs every compiled `*.test.js`, or those whose path contains one of the arguments, each of which
 * must match a file. `--soak` runs every `*.soak.js` and the tests that do more in a soak, one at a
 * time. A file that ran no test has failed.
 */
async function main(args: readonly string[]): Promise<void> {
  exitOnSignals();
  // services of several tests share a snapshot, and cannot share the journal beside it
  process.env['WAYPOST_JOURNAL'] = 'none';
  // a busy machine must not fail a test
  process.env['WAYPOST_MAX_LOOP_DELAY'] = '0';
  // not worth its time for hundreds of short-lived services
  process.env['WAYPOST_WARM_UP'] = '0s';
  process.env['TEST_SNAPSHOT'] ??= await packedFixture();
  const kind = args.includes('--soak') ? 'soak' : 'test';
  process.env['TEST_KIND'] = kind;
  const wanted = args.filter((arg) => arg !== '--soak');
  const seconds = readSeconds();
  const all = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) =>
    isOfKind(name, kind),
  );
  const missing = wanted.filter((part) => !all.some((name) => name.includes(part)));
  if (missing.length > 0) throw new Error(`No ${kind} has ${missing.join(' or ')} in its path.`);
  const files = all
    .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
    .sort((a, b) => lengthOf(b, seconds) - lengthOf(a, seconds));
  const started = performance.now();
  const outcomes: Outcome[] = [];
  // files wait a third of their time for processes, disks and clocks
  const width = kind === 'soak' ? 1 : availableParallelism() + 3;
  const ownProcess = (name: string): boolean => kind === 'soak' || OWN_PROCESS.test(textOf(name));
  await runAll(
    files.map((name) => ({
      path: join(FOLDER, name),
      needsOwnProcess: ownProcess(name),
      done(outcome: Outcome): void {
        outcomes.push(outcome);
        seconds[name] = outcome.seconds;
        report(name, outcome);
      },
    })),
    width,
    { silenceMs: LIMIT_MS[kind], closingMs: CLOSING_MS },
  );
  writeFileSync(SECONDS_FILE, JSON.stringify(seconds));

  const total = (key: 'passed' | 'failed' | 'skipped' | 'cpuSeconds'): number =>
    outcomes.reduce((sum, outcome) => sum + outcome[key], 0);
  const took = ((performance.now() - started) / 1000).toFixed(1);
  const cpu = total('cpuSeconds').toFixed(1);
  console.log(`\n${outcomes.length} files, ${took} s, ${cpu} s of CPU`);
  const skipped = total('skipped') > 0 ? `, ${total('skipped')} skipped` : '';
  console.log(`${total('passed')} passed, ${total('failed')} failed${skipped}`);
  if (total('failed') > 0 || total('passed') === 0) process.exitCode = 1;
}

function isOfKind(name: string, kind: 'test' | 'soak'): boolean {
  if (kind === 'test' || !name.endsWith('.test.js')) return name.endsWith(`.${kind}.js`);
  return ASKS_FOR_SOAK.test(textOf(name));
}

/** Packs the snapshot of most tests' services, once for all files. */
async function packedFixture(): Promise<string> {
  const path = join(makeFolder(), 'points.waypost');
  const fixture = join(FOLDER, '../../test/fixtures/points.ndjson');
  await packSnapshot(fixture, path, { print: () => {} });
  return path;
}

function textOf(name: string): string {
  return readFileSync(join(FOLDER, name), 'utf8');
}

function readSeconds(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(SECONDS_FILE, 'utf8'));
  } catch {
    return {};
  }
}

/** Orders files of unknown duration: browser tests count as longest, then those with processes. */
function lengthOf(name: string, seconds: Readonly<Record<string, number>>): number {
  const known = seconds[name];
  if (known !== undefined) return known;
  if (name.startsWith('browser/')) return 60;
  return /support\/(?:browser|notes|service)\.js/.test(textOf(name)) ? 5 : 1;
}

function report(name: string, outcome: Outcome): void {
  const { passed, failed, skipped, seconds, cpuSeconds, output } = outcome;
  const counts = skipped > 0 ? `${passed}, ${skipped} skipped` : passed;
  const times = `${seconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s`;
  console.log(`${failed > 0 ? 'FAIL' : 'ok  '} ${name} (${counts}) ${times}`);
  if (failed > 0) console.log(sourceLines(output));
  // printed by `testUnless`
  else for (const [line] of output.matchAll(/^skipped: .*$/gm)) console.log(`     ${line}`);
}

await main(process.argv.slice(2));
