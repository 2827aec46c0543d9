import { linkSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ATTACKS, attackOf, CONTROL } from './attacks/kinds.js';
import type { Attack } from './attacks/material.js';
import {
  type Arena,
  type AttackResult,
  benchAttack,
  CLIENTS,
  type Measuring,
} from './attacks/rounds.js';
import type { Post } from './generators/open.js';
import { LIST, type Places, surveyPlaces } from './places.js';
import { POST_BODY } from './post/posting.js';
import { requestPaths, scenarioOf } from './scenarios.js';
import { CACHE, nativeFile, SEED } from './support/data.js';
import { benchCommand, names, positiveNumber, runBench, say, smokeFlags } from './support/run.js';
import { startService, temporaryFolder } from './support/service.js';
import { digits, plusMinus, type Table } from './support/table.js';

interface Options extends Measuring {
  readonly attacks?: readonly string[];
}

const PATHS = 20_000;
/** What ordinary clients ask for, in equal parts. */
const ORDINARY_SCENARIOS = ['small-box', 'nearby', 'hot'] as const;
/** Where posts are accepted, every `POST_EVERY`th ordinary request is a post. */
const POST_EVERY = 10;

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

/** Gives each attack a new service: no attack meets what another one left behind. */
async function benchAttacks(options: Options): Promise<AttackResult[]> {
  const attacks =
    options.attacks?.map(attackOf) ?? (options.smoke ? ATTACKS : [CONTROL, ...ATTACKS]);
  const results: AttackResult[] = [];
  for (const attack of attacks) {
    await attack.prepare?.();
    const arena = await openArena(attack, options);
    const result = await benchAttack(attack, arena, options);
    results.push(result);
    say(`${attack.name}: ${digits(result.ratio.median)} × p99, ${result.failed} failed`);
    await arena.server.stop();
  }
  if (options.smoke) checkSmoke(results);
  return results;
}

/** Throws unless each attack took place and no ordinary request failed; speed is not checked. */
function checkSmoke(results: readonly AttackResult[]): void {
  for (const { attack, failed, failures, tally } of results) {
    if (tally.opened + tally.sent === 0) throw new Error(`The attack ${attack} did nothing.`);
    if (failed > 0)
      throw new Error(`${failed} ordinary requests failed during ${attack}: ${failures}`);
  }
}

async function openArena(
  { flags = [], isPosting = false }: Attack,
  options: Options,
): Promise<Arena> {
  const { points, seed, smoke } = options;
  const file = await nativeFile(points);
  const home = temporaryFolder('attack', CACHE);
  const [folder, media] = [join(home, 'snapshots'), join(home, 'media')];
  for (const one of [folder, media]) mkdirSync(one);
  linkSync(file, join(folder, 'points.waypost'));
  const posting = ['--journal', join(home, 'points.journal'), '--media', media, '--trust-proxy'];
  const given = [...smokeFlags(smoke), ...flags, ...(isPosting ? posting : [])];
  const server = await startService(folder, ['--settle', '50ms', ...given]);
  const places = await surveyPlaces(server.url, smoke ? 40 : 200, seed);
  const paths = ordinaryRequests(places, smoke ? 500 : PATHS, seed, isPosting);
  return { server, folder, paths };
}

/** Requests of all kinds in turn; the same seed and data give the same ones. */
function ordinaryRequests(
  places: Places,
  count: number,
  seed: number,
  isPosting: boolean,
): (string | Post)[] {
  const kinds = ORDINARY_SCENARIOS.map((name) =>
    requestPaths(scenarioOf(name), places, count, seed),
  );
  return Array.from({ length: count }, (_, i) => {
    if (isPosting && i % POST_EVERY === POST_EVERY - 1) return postOf(i);
    const kind = kinds[i % kinds.length]!;
    return kind[i % kind.length]!;
  });
}

/** From many addresses, as a proxy reports them: the limit of an address refuses none. */
function postOf(person: number): Post {
  const address = `10.0.${(person >> 8) & 255}.${person & 255}`;
  return { path: LIST, body: POST_BODY, headers: { 'X-Forwarded-For': address } };
}

function attackTables(results: readonly AttackResult[]): Table[] {
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
    plusMinus(ratio),
    digits(rest.slowest),
    failed === 0 ? '0' : `${failed} (${rest.failures.join(', ')})`,
    digits(rest.asked),
    megabytes(rest.growth),
    megabytes(rest.peakGrowth),
    digits(rest.tally.sent + rest.tally.opened),
  ]);
  const note = `${CLIENTS} ordinary clients while each attack runs, beside without.`;
  return [{ title: 'Attacks', note, head, rows }];
}

const smoke = { points: 20_000, seconds: 0.4, rounds: 1 };
await runBench(import.meta, command, { smoke, run: benchAttacks, tables: attackTables });
