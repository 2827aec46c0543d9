/** Does the work of one item. */
type Work<Item> = (item: Item) => unknown;

/** The last result, kept so that the compiler cannot leave the work out. */
const sink: { last: unknown } = { last: undefined };

/** Does all items, again and again for `leastMs`; returns the mean microseconds of an item. */
export async function microsOf<Item>(
  work: Work<Item>,
  items: readonly Item[],
  leastMs: number,
): Promise<number> {
  const began = performance.now();
  let done = 0;
  let elapsed = 0;
  do {
    for (const item of items) {
      sink.last = work(item);
      // awaiting what is there already would add to the times of quick contenders
      if (sink.last instanceof Promise) await sink.last;
    }
    done += items.length;
    elapsed = performance.now() - began;
  } while (elapsed < leastMs);
  return (elapsed * 1000) / done;
}

/** {@link microsOf} each contender, round by round: in a round all take their turn. */
export async function takeTurns<Item>(
  contenders: readonly (readonly [work: Work<Item>, items: readonly Item[]])[],
  rounds: number,
  leastMs: number,
): Promise<number[][]> {
  const micros = contenders.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, [work, items]] of contenders.entries()) {
      micros[i]!.push(await microsOf(work, items, leastMs));
    }
  }
  return micros;
}
