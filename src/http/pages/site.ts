import type { Assets } from '../assets/assets.js';

/** Who may post by the form of a page. */
export type PostingBy = 'anybody' | 'holders' | 'nobody';

/** What all pages of a service have in common. */
export interface Site {
  readonly assets: Assets;
  /** What stands in front of all paths: a path without a slash at its end. */
  readonly prefix: string;
  /** Template of the tiles that the map shows below the points; its own outline of land without. */
  readonly tileUrl: string | undefined;
  /** Whether the images of points are served. */
  readonly hasImages: boolean;
  readonly posting: PostingBy;
  /** Headers of every page, names and values in turn. */
  readonly headers: readonly string[];
}

/** What a {@link Site} is made of. */
export type SiteParts = Omit<Site, 'headers'>;

export function createSite(parts: SiteParts): Site {
  return { ...parts, headers: headersOf(parts.tileUrl) };
}

/**
 * Headers by which a browser loads nothing from elsewhere but map tiles, runs no script and takes
 * no style that stands in the page, and shows the page in no frame.
 */
function headersOf(tileUrl: string | undefined): readonly string[] {
  const tiles = tileUrl === undefined ? '' : ` ${originOf(tileUrl)}`;
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' blob:${tiles}`,
    `connect-src 'self'${tiles}`,
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return [...['Content-Security-Policy', policy.join('; ')], ...['Referrer-Policy', 'same-origin']];
}

/** Scheme and authority of a template, where `{s}` or the like may stand only behind them. */
function originOf(tileUrl: string): string {
  return /^https?:\/\/[^/{}]+/.exec(tileUrl)![0];
}
