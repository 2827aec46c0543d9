/** A setting of `waypost serve`: one row makes the flag, the environment variable and the help. */
export interface Setting {
  /** As commander writes it: `--port <number>`. */
  readonly flag: string;
  readonly environment: string;
  readonly help: string;
  readonly required?: boolean;
  readonly fallback?: string;
  /**
   * Turns the text into the value; throws an Error that names the rule. Texts stay as they are
   * without.
   */
  readonly parse?: (text: string) => unknown;
}

/** The settings, read. */
export interface ServeSettings {
  readonly snapshot: string;
  readonly notifications?: string;
  readonly tokens?: string;
  /** Path, or `none`; beside the snapshot where absent. */
  readonly journal?: string;
  readonly journalAnyFs?: boolean;
  readonly requireToken?: boolean;
  /** Posts a minute; 0 for any number. */
  readonly postsPerAddress: number;
  readonly postsPerToken: number;
  readonly media?: string;
  readonly maxImageBytes: number;
  readonly maxImagePixels: number;
  readonly imageTimeout: number;
  readonly host: string;
  readonly port: number;
  readonly listenTimeout: number;
  readonly publicUrl?: string;
  readonly timeZone: string;
  readonly maxInvalid: number;
  /** Share of the points: 0.5 for half of them. */
  readonly maxShrink: number;
  readonly acceptPage?: boolean;
  readonly allowEmpty?: boolean;
  readonly watch: 'events' | 'poll' | 'off';
  /** Times are in milliseconds. */
  readonly pollInterval: number;
  readonly settle: number;
  readonly workers: number;
  readonly adminToken?: string;
  readonly operationsHost: string;
  readonly operationsPort?: number;
  readonly trustProxy: boolean;
  readonly allowedHosts: readonly string[];
  readonly corsOrigin: readonly string[];
  /** Sizes are in bytes. */
  readonly answerCache: number;
  readonly maxPageBytes: number;
  readonly compress: boolean;
  readonly tileUrl?: string;
  readonly maxHeaderSize: number;
  readonly maxConnections: number;
  readonly requestTimeout: number;
  readonly uploadTimeout: number;
  readonly answerTimeout: number;
  readonly maxUnsent: number;
  readonly maxLoopDelay: number;
  readonly shutdownTimeout: number;
  /** Share of the requests that are logged. */
  readonly accessLog: number;
  readonly logFormat: string;
  readonly logLevel: string;
}
