/** As many questions of each kind as `make test` has no time for. */
process.env['ORACLE_ROUNDS'] = '150';
await import('../query/oracle.test.js');
