import type { Client } from './checkpoint.ts'
import type { Projection } from './projection.ts'

/**
 * Read models that are built together: one version, one schema, one checkpoint, and one transaction for each batch (and for each
 * decision to skip an event). `../../../projections/README.md` says what a new group needs.
 */
export type Group = {
  readonly name: string
  /** To be raised whenever a table or a handler changes: each version has its own schema, built from the log. */
  readonly version: number
  readonly projections: readonly Projection[]
  /**
   * Event types that a crash of PostgreSQL may undo, because they take away no rights that are read from this group. Batches of
   * only these are committed asynchronously (`apply.ts`), and applied again after the crash.
   */
  readonly mayBeUndone?: ReadonlySet<string>
  /**
   * For read models that no write waits for, and that need the data of few events: data is decoded only if a handler reads it, a
   * batch is projected in one piece, and the runner pauses between small batches while no read waits.
   */
  readonly isLazy?: true
  /** For read models that take long and that no write waits for: while the event loop is busy, its batches take a tenth of the time. */
  readonly isDeferred?: true
  /** The group whose rows the projections of this one read: a batch is applied here once it is applied there. */
  readonly behind?: Pick<Group, 'name' | 'version'>
  /** For rows that are too many to be deleted within a batch: projections only record them, and the sweep deletes them in chunks. */
  readonly sweep?: Sweep
}

/**
 * Deletes one chunk of orphaned rows from a schema: rows of deleted traces, of one stream or of any. Returns true while there may be
 * more. Each statement is a short transaction of its own, so that a process that freezes holds no locks.
 */
type Sweep = (client: Client, schema: string, stream?: string) => Promise<boolean>

/** The name of the group that commands and queries read from. The service is ready when this group is. */
export const MAIN = 'main'

const prefixOf = (name: string): string => (name === MAIN ? 'rm_' : `rm_${name}_`)

export const schemaOf = ({ name, version }: Pick<Group, 'name' | 'version'>): string => `${prefixOf(name)}${version}`

/** The schema in which a rebuild builds new read models of the same version. */
export const nextSchemaOf = (group: Group): string => `${schemaOf(group)}_next`

/** A schema that a rebuild has replaced, until it is dropped. `number` keeps the names of several different. */
export const oldSchemaOf = (group: Group, number: number): string => `${schemaOf(group)}_old_${number}`

/** The version in a schema's name, and whether the schema is in use: not a new or an old one of a rebuild. */
type SchemaName = { readonly version: number; readonly serves: boolean }

/** Undefined for a schema of another group or of another kind. */
export const parseSchema = (group: Pick<Group, 'name'>, schema: string): SchemaName | undefined => {
  const rest = schema.startsWith(prefixOf(group.name)) ? schema.slice(prefixOf(group.name).length) : ''
  const found = /^(\d{1,9})(_next|_old_\d{1,9})?$/.exec(rest)
  return found ? { version: Number(found[1]), serves: found[2] === undefined } : undefined
}
