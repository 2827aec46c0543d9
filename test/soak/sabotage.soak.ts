/** Every accident over HTTP, many within transactions, and a disk that fails again and again. */
process.env['SABOTAGE'] = 'all';
process.env['DISK_ROUNDS'] = '20';
await import('../posts/sabotage.test.js');
await import('../posts/failing-disk.test.js');
