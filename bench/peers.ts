import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { meanOf, type Round } from './generators/types.js';
import { fullLoop, hasWrk, warmUp } from './generators/wrk.js';
import { checkAnswers } from './peers/check.js';
import { PEERS, type Peer, startPeer, TITLES } from './peers/start.js';
import { Skipped } from './peers/types.js';
import { type Places, surveyPlaces } from './places.js';
import { MANY_REQUESTS, requestPaths, scenarioOf } from './scenarios.js';
import { nativeFile, ndjsonFile, SEED } from './support/data.js';
import { untilIdle } from './support/proc.js';
import { type BenchOptions, benchCommand, names, runBench, say } from './support/run.js';
import { startService, temporaryFolder } from './support/service.js';
import { ratiosOf, type Spread } from './support/stats.js';
import { digits, plusMinus, type Table } from './support/table.js';

interface PeerResult {
  readonly scenario: string;
  readonly peer: string;
  readonly rounds: readonly Round[];
  /** Requests a second of Waypost beside the peer's, round by round. */
  readonly ours: Spread;
}

export interface PeerResults {
  readonly points: number;
  readonly generator: string;
  readonly results: readonly PeerResult[];
  /** Why each peer that is missing was left out. */
  readonly skipped: Readonly<Record<string, string>>;
}

interface Options extends BenchOptions {
  readonly peers?: readonly string[];
}

const OURS = 'Waypost';
/** Waypost with one thread, as the bare routes of one process have. */
const ALONE = 'Waypost, one worker';
const SCENARIOS = ['small-box', 'nearby', 'wide', 'hot'] as const;
/** Different answers that the bare routes send. */
const BODIES = 200;

const command = benchCommand(
  'peers',
  'Does the same work with Waypost and with what else there is.',
  { points: 1_000_000, seconds: 1, rounds: 3, connections: 32 },
).option('--peers <names>', `with commas: ${PEERS}`, names);

/** Starts whatever is installed, and lets all take turns. */
async function benchPeers(options: Options): Promise<PeerResults> {
  const folder = temporaryFolder('peers');
  const file = await nativeFile(options.points);
  const service = await startService(file);
  const running: Peer[] = [{ name: OURS, url: service.url, pids: [service.pid], isCeiling: false }];
  const skipped: Record<string, string> = {};
  const alone = await startService(file, ['--workers', '1']);
  running.push({ name: ALONE, url: alone.url, pids: [alone.pid], isCeiling: false });
  const places = await surveyPlaces(service.url, 1000, SEED);
  await keepBodies(folder, service.url, places);
  for (const kind of options.peers ?? PEERS) {
    say(`starting ${TITLES[kind] ?? kind}`);
    try {
      running.push(await startPeer(kind, folder, await ndjsonFile(options.points)));
    } catch (error) {
      if (!(error instanceof Skipped)) throw error;
      skipped[TITLES[kind] ?? kind] = error.message;
      say(`left out: ${error.message}`);
    }
  }
  await checkAnswers(running, requestPaths(scenarioOf('small-box'), places, 20, SEED + 1));
  await checkAnswers(running, requestPaths(scenarioOf('nearby'), places, 20, SEED + 1));
  return {
    points: options.points,
    generator: hasWrk() ? 'wrk' : 'closed loop',
    results: await takeTurns(running, places, options),
    skipped,
  };
}

/** Answers of Waypost for the bare routes to send. */
async function keepBodies(folder: string, url: string, places: Places): Promise<void> {
  for (const [kind, scenario] of [
    ['box', 'small-box'],
    ['circle', 'nearby'],
  ] as const) {
    const paths = requestPaths(scenarioOf(scenario), places, BODIES, SEED);
    for (const [index, path] of paths.entries()) {
      const answer = await fetch(url + path);
      const body = Buffer.from(await answer.arrayBuffer());
      writeFileSync(join(folder, `${kind}-${String(index).padStart(4, '0')}.json`), body);
    }
  }
}

async function takeTurns(
  peers: readonly Peer[],
  places: Places,
  options: Options,
): Promise<PeerResult[]> {
  const { rounds, seconds } = options;
  const [boxes, circles] = ['small-box', 'nearby'].map((name) =>
    requestPaths(scenarioOf(name), places, MANY_REQUESTS, SEED + 1),
  );
  const both = boxes!.flatMap((box, i) => [box, circles![i]!]);
  for (const { url } of peers) await warmUp(url, both, options.smoke);
  const taken = new Map<string, Map<Peer, Round[]>>();
  for (const name of SCENARIOS) {
    const paths = requestPaths(scenarioOf(name), places, MANY_REQUESTS, SEED);
    // the bare routes have no bodies for wide circles
    const fitting = peers.filter(({ isCeiling }) => name !== 'wide' || !isCeiling);
    // a slow peer takes most of a second an answer: fewer connections leave it a short queue
    const connections = name === 'wide' ? Math.min(4, options.connections) : options.connections;
    const turns = new Map<Peer, Round[]>(fitting.map((peer) => [peer, []]));
    taken.set(name, turns);
    for (let round = 0; round < rounds; round++) {
      for (const peer of fitting) {
        const own = { base: peer.url, warmupSeconds: 0, pid: peer.pids };
        const load = { ...own, paths, connections, seconds };
        turns.get(peer)!.push(await fullLoop(load));
        await untilIdle(peer.pids);
      }
      const best = [...turns].map(
        ([peer, done]) => `${peer.name} ${digits(done.at(-1)!.perSecond)}`,
      );
      say(`${name} ${round + 1}/${rounds}: ${best.join(', ')}`);
    }
  }
  return [...taken].flatMap(([scenario, turns]) => {
    // a round without an answer counts as one answer, so that a ratio exists
    const perSecond = (done: readonly Round[]): number[] =>
      done.map((one) => Math.max(one.perSecond, 1 / one.seconds));
    const ours = perSecond([...turns].find(([peer]) => peer.name === OURS)![1]);
    return [...turns].map(([peer, done]) => ({
      scenario,
      peer: peer.name,
      rounds: done,
      ours: ratiosOf(ours, perSecond(done)),
    }));
  });
}

export function peersTables({ points, generator, results, skipped }: PeerResults): Table[] {
  const left = Object.entries(skipped).map(([peer, why]) => ` Left out: ${peer}: ${why}.`);
  return [
    {
      title: 'Beside what else there is',
      note:
        `${digits(points)} points, ${generator}. Every peer answers the same requests over HTTP, by a Fastify route of ` +
        `its own. Waypost has a thread a core, and the others a process each where nothing else is said. CPU time is that of all its processes. Waypost to it: how many times as many requests a second, ` +
        `and, by CPU, how many times as many it answers with the same CPU time.${left.join('')}`,
      head: ['scenario', 'peer', 'requests/s', 'p99 ms', 'CPU µs', 'Waypost to it', 'by CPU'],
      rows: results.map(({ scenario, peer, rounds, ours }) => [
        scenario,
        peer,
        meanOf(rounds, (one) => one.perSecond),
        meanOf(rounds, (one) => one.latencies.percentiles['99']),
        meanOf(rounds, (one) => one.serverMicros),
        peer === OURS ? '1' : plusMinus(ours),
        peer === OURS ? '1' : cpuRatio(results, scenario, rounds),
      ]),
    },
  ];
}

/** How much more CPU time a peer needs for a request: on a busy machine steadier than its rate. */
function cpuRatio(
  results: readonly PeerResult[],
  scenario: string,
  theirs: readonly Round[],
): string {
  const ours = results.find((one) => one.scenario === scenario && one.peer === OURS)?.rounds;
  const micros = (rounds: readonly Round[] = []): number[] =>
    rounds.map((one) => one.serverMicros).filter((value) => value !== undefined);
  const [mine, others] = [micros(ours), micros(theirs)];
  if (mine.length === 0 || others.length !== mine.length) return '–';
  return plusMinus(ratiosOf(others, mine));
}

const smoke = { points: 5_000, rounds: 1, seconds: 1, peers: PEERS.slice(0, 2) };
await runBench(import.meta, command, { smoke, run: benchPeers, tables: peersTables });
