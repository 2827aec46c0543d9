import { linkSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CONTROL } from './attacks/control.js';
import { ATTACKS, attackOf } from './attacks/kinds.js';
import { ordinaryPaths } from './attacks/ordinary.js';
import {
  type Arena,
  type AttackResult,
  benchAttack,
  CLIENTS,
  type Measuring,
} from './attacks/rounds.js';
import { surveyPlaces } from './places.js';
import { CACHE, nativeFile, SEED } from './support/data.js';
import {
  type BenchOptions,
  benchCommand,
  names,
  positiveNumber,
  runMain,
  say,
  smokeFlags,
  typedCommand,
  writePart,
} from './support/run.js';
import { startService } from './support/service.js';
import { digits, textTable } from './support/table.js';

interface Options extends BenchOptions, Measuring {
  readonly attacks?: readonly string[];
}

const PATHS = 20_000;

const command = benchCommand(
  'attacks',
  'Measures ordinary clients while the service is attacked.',
  { points: 1_000_000, seconds: 3, rounds: 3, seed: SEED },
)
  .option(
    '--attacks <names>',
    `with commas: ${[CONTROL, ...ATTACKS].map((one) => one.name)}`,
    names,
  )
  .option('--rate <number>', `requests a second of each of ${CLIENTS} clients`, positiveNumber, 50);

/** Entry: each attack against a service of its own, one after the other. */
async function main(): Promise<void> {
  const given = command.parse().opts<Options>();
  const options = given.smoke ? { ...given, points: 20_000, seconds: 0.4, rounds: 1 } : given;
  const attacks =
    options.attacks?.map(attackOf) ?? (options.smoke ? ATTACKS : [CONTROL, ...ATTACKS]);
  const results: AttackResult[] = [];
  // each attack has a service of its own, so that none is measured with what another left; a smoke
  // test shares one
  const shared = options.smoke ? await openArena([], options) : undefined;
  try {
    for (const attack of attacks) {
      const arena =
        shared !== undefined && attack.flags === undefined
          ? { ...shared, close: async () => {} }
          : await openArena(attack.flags ?? [], options);
      try {
        const result = await benchAttack(attack, arena, options);
        results.push(result);
        say(`${attack.name}: ${digits(result.ratio.median)} × p99, ${result.failed} failed`);
      } finally {
        await arena.close();
      }
    }
  } finally {
    await shared?.close();
  }
  console.log(attackTable(results));
  writePart(options.json, typedCommand('attacks'), results);
  if (options.smoke) checkSmoke(results);
}

/**
 * Checks everything but speed: each attack took place, and no ordinary client suffered more than a
 * delay.
 */
function checkSmoke(results: readonly AttackResult[]): void {
  for (const { attack, failed, failures, tally } of results) {
    if (tally.opened + tally.sent === 0) throw new Error(`The attack ${attack} did nothing.`);
    if (failed > 0)
      throw new Error(`${failed} ordinary requests failed during ${attack}: ${failures}`);
  }
}

async function openArena(flags: readonly string[], options: Options): Promise<Arena> {
  const { points, seed, smoke } = options;
  const file = await nativeFile(points);
  const folder = mkdtempSync(join(CACHE, 'attack-'));
  linkSync(file, join(folder, 'points.waypost'));
  const server = await startService(folder, ['--settle', '50ms', ...smokeFlags(smoke), ...flags]);
  const close = async (): Promise<void> => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const places = await surveyPlaces(server.url, smoke ? 40 : 200, seed);
    const paths = ordinaryPaths(places, smoke ? 500 : PATHS, seed);
    return { server, folder, paths, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function attackTable(results: readonly AttackResult[]): string {
  const head = [
    'attack',
    'p99 ms without',
    'with',
    'ratio',
    'max ms',
    'failed',
    'of',
    'MB more',
    'at most',
    'attacker sent',
  ];
  const megabytes = (bytes: number): string => digits(Math.round(bytes / 1e6));
  const rows = results.map(({ attack, without, during, ratio, failed, ...rest }) => [
    attack,
    digits(without.median),
    digits(during.median),
    `${digits(ratio.median)} ± ${digits(ratio.deviation)}`,
    digits(rest.slowest),
    failed === 0 ? '0' : `${failed} (${rest.failures.join(', ')})`,
    digits(rest.asked),
    megabytes(rest.growth),
    megabytes(rest.peakGrowth),
    digits(rest.tally.sent + rest.tally.opened),
  ]);
  return textTable(head, rows);
}

await runMain(import.meta, main);
