import { say } from '../support/run.js';
import type { Peer } from './start.js';

interface Answer {
  readonly count: number;
  readonly results: readonly { readonly id: number }[];
}

/**
 * Share by which counts may differ: stores use spheres, on whose rim a street of points may lie, or
 * boxes in metres, or drop polar points.
 */
const SLACK = 0.1;

/**
 * Asks every store the same questions and compares counts and pages with those of the first store.
 * Throws when counts differ by more than `SLACK`.
 */
export async function checkAnswers(
  peers: readonly Peer[],
  paths: readonly string[],
): Promise<void> {
  const [ours, ...others] = peers.filter(({ isCeiling }) => !isCeiling);
  for (const peer of others) {
    let same = 0;
    for (const path of paths) {
      const [mine, theirs] = await Promise.all([ask(ours!.url + path), ask(peer.url + path)]);
      const off = Math.abs(mine.count - theirs.count);
      if (off > Math.max(3, SLACK * mine.count)) {
        throw new Error(`${peer.name} counts ${theirs.count} instead of ${mine.count}: ${path}`);
      }
      if (idsOf(mine) === idsOf(theirs)) same++;
    }
    say(`${peer.name}: ${same} of ${paths.length} pages the same, all counts near`);
  }
}

async function ask(url: string): Promise<Answer> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

function idsOf({ results }: Answer): string {
  return results.map(({ id }) => id).join();
}
