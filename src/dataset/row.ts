/** A point's place in a dataset: 0 to count - 1, in the order of the radius index's tree. */
export type Row = number & { readonly brand?: 'row' };

/** A row's place in an order: 0 is the smallest key. */
export type Rank = number & { readonly brand?: 'rank' };
