/** What the tests of the file that runs have opened, and the runner closes behind them. */
const open: (() => unknown)[] = [];

/** Has something closed behind the last test of the file, what was opened last first. */
export function closeLater(close: () => unknown): void {
  open.push(close);
}

export async function closeAll(): Promise<void> {
  for (let close = open.pop(); close !== undefined; close = open.pop()) await close();
}
