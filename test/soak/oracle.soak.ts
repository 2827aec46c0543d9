/** As many questions of each kind as `make test` has no time for. */
process.env['ORACLE_ROUNDS'] = '100';
await import('../query/oracle.test.js');
await import('../query/ties.test.js');
await import('../tiles/oracle.test.js');
