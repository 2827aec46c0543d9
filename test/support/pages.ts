import { createAssets } from '../../src/http/assets/assets.js';
import { createSite, type Site } from '../../src/http/pages/site.js';
import { plainSubject, type Subject } from '../../src/http/pages/subject.js';

/** Of a service that only reads, without images. */
export const PLAIN_SITE: Site = createSite({
  assets: createAssets(''),
  prefix: '',
  tileUrl: undefined,
  hasImages: false,
  posting: 'nobody',
});

/** Of an address without parameters, whose records are shown as JSON alone. */
export const PLAIN_SUBJECT: Subject = plainSubject('Plain', 'Nothing much.');
