import type { Map as MapLibre } from 'maplibre-gl';

/** Between two refreshes of the map, in milliseconds. */
const SPACING_MS = 1_000;
/** After a stream that was refused wherever it was to begin, such as one too many. */
const RETRY_MS = 30_000;

/**
 * Has a map show points as they are accepted: `address` is their stream, and `after` the sequence of
 * the state that the map was made from. A page that nobody sees has no stream, since a browser has
 * six connections to a host for all of its tabs.
 */
export function followChanges(map: MapLibre, address: string, after: number): void {
  let stream: EventSource | undefined;
  let isDue = false;
  let refreshedAt = 0;
  /** The map has all points up to this sequence, or is about to; undefined: that is not known. */
  let seen: number | undefined = after;

  function refresh(): void {
    isDue = false;
    refreshedAt = performance.now();
    map.refreshTiles('matches');
  }

  function refreshSoon(): void {
    if (isDue) return;
    isDue = true;
    window.setTimeout(refresh, Math.max(0, refreshedAt + SPACING_MS - performance.now()));
  }

  function open(): void {
    if (document.hidden || stream !== undefined) return;
    const from = seen === undefined ? '' : `&after=${seen}`;
    stream = new EventSource(address + from);
    stream.onmessage = ({ lastEventId }) => {
      seen = Number(lastEventId);
      refreshSoon();
    };
    stream.onopen = () => {
      // what came before is not known
      if (seen === undefined) refreshSoon();
    };
    stream.onerror = () => {
      // it comes back by itself unless it was refused
      if (stream?.readyState !== EventSource.CLOSED) return;
      close();
      // what it was to go on behind may be kept no longer
      window.setTimeout(open, seen === undefined ? RETRY_MS : 0);
      seen = undefined;
    };
  }

  function close(): void {
    stream?.close();
    stream = undefined;
  }

  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  addEventListener('pagehide', close);
  addEventListener('pageshow', open);
  open();
}
