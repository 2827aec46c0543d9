/**
 * Whether minutes may be taken: with `--soak` the runner runs the files that ask this here, too.
 */
export const IS_SOAK: boolean = process.env['TEST_KIND'] === 'soak';

/** How many of so many random rounds are made: a fifth where minutes may not be taken. */
export function rounds(many: number): number {
  return IS_SOAK ? many : Math.ceil(many / 5);
}
