declare module 'world-atlas/land-110m.json' {
  /** A topology: the outlines of all land, as lines that rings are put together from. */
  const topology: {
    readonly transform: {
      readonly scale: readonly [lon: number, lat: number];
      readonly translate: readonly [lon: number, lat: number];
    };
    /** Each line: its first place, then the steps from place to place, in units of the scale. */
    readonly arcs: readonly (readonly (readonly [lon: number, lat: number])[])[];
    readonly objects: {
      readonly land: {
        readonly geometries: readonly [
          /** Polygons of rings of lines; `~line` stands for a line backwards. */
          { readonly arcs: readonly (readonly (readonly number[])[])[] },
        ];
      };
    };
  };
  export = topology;
}
