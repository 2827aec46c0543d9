import { createAssets } from '../http/assets/assets.js';
import { createSite, type Site } from '../http/pages/site.js';
import type { ServeSettings } from '../settings/setting.js';

/** What the pages of these settings have in common; `posts` says whether points can be posted. */
export function siteOf(
  { publicUrl, media, tileUrl, requireToken }: ServeSettings,
  posts: boolean,
): Site {
  // addresses without a host stay with the host that the page came from
  const prefix = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
  return createSite({
    assets: createAssets(prefix),
    prefix,
    tileUrl,
    hasImages: media !== undefined,
    posting: !posts ? 'nobody' : requireToken ? 'holders' : 'anybody',
  });
}
