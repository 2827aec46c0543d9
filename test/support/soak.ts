/**
 * Whether minutes may be taken: with `--soak` the runner runs the files that ask this here, too.
 */
export const IS_SOAK: boolean = process.env['TEST_KIND'] === 'soak';
