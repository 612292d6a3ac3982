/*
 * SQL for the keys with which lines are hashed (`tracebook.attribution_keys`), one for each namespace. A key is made where it is first needed, by the
 * projector or by a request: of two that are made at the same time the first stays.
 */

export type LineKeyRow = { readonly namespace_id: string; readonly secret: Buffer }

/** Reads the keys of namespaces. The parameter is their ids. */
export const lineKeysStatement = `
  select namespace_id, secret from tracebook.attribution_keys where namespace_id = any($1::uuid[])`

/** Stores keys for namespaces that have none. */
export const makeLineKeys = `
  insert into tracebook.attribution_keys (namespace_id, secret)
  select u.namespace_id, u.secret from unnest($1::uuid[], $2::bytea[]) u (namespace_id, secret)
  order by 1 on conflict do nothing`

/** The parameters of `makeLineKeys`. */
export const lineKeysToMake = (namespaceIds: readonly string[], newKey: () => Buffer): unknown[] => [
  [...namespaceIds],
  namespaceIds.map(newKey),
]
