import { createSite, plainSubject, type Site, type Subject } from '../../src/http/pages/site.js';

/** Of a service that only reads, without images. */
export const PLAIN_SITE: Site = createSite({}, false);

/** Of an address without parameters, whose records are shown as JSON alone. */
export const PLAIN_SUBJECT: Subject = plainSubject('Plain', 'Nothing much.');
