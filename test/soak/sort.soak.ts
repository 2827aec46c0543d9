/** More points than `make test` has time for. */
process.env['SORT_BLOCKS'] = '4';
await import('../snapshot/native/sort.test.js');
