/** Whether minutes may be taken: `--soak` has the runner run the files that ask this, too. */
export const IS_SOAK: boolean = process.env['TEST_KIND'] === 'soak';

/** How many of so many random rounds are made: a fifth where minutes may not be taken. */
export function rounds(many: number): number {
  return IS_SOAK ? many : Math.ceil(many / 5);
}
