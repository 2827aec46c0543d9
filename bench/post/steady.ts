import { KINDS, postEvenly } from './clients.js';

// entry of a process that posts evenly: who measures reads must not be kept by it from looking

const [url, seconds, perSecond, kind] = process.argv.slice(2);
await postEvenly(url!, Number(seconds), Number(perSecond), KINDS[kind as keyof typeof KINDS]);
