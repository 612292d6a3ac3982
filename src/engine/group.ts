import type { Client } from './checkpoint.ts'
import type { Projection } from './projection.ts'

/**
 * Read models that are built together: one version, one schema, one checkpoint, one transaction for a batch. A group
 * that is added needs a name and a list of projections, nothing else.
 */
export type Group = {
  readonly name: string
  /** Goes up whenever a table or a handler changes: another version is another schema, built from the log. */
  readonly version: number
  readonly projections: readonly Projection[]
  /** Event types that take nobody's rights away: only these may be lost, and applied again, in a crash of PostgreSQL. */
  readonly harmless?: ReadonlySet<string>
  /** For rows that are too many to be deleted with a batch: projections note them, and they are taken away in chunks. */
  readonly sweep?: Sweep
}

/**
 * Takes away one chunk of what deletions have left behind in a schema, of one stream or of any; true while there may be
 * more. Every statement is short and stands for itself, so that a process that is frozen or killed holds up no one.
 */
export type Sweep = (client: Client, schema: string, stream?: string) => Promise<boolean>

/** The group that decisions and answers combine. The service is ready when it is; others may lag or be away. */
export const MAIN = 'main'

const prefixOf = (name: string): string => (name === MAIN ? 'rm_' : `rm_${name}_`)

export const schemaOf = ({ name, version }: Pick<Group, 'name' | 'version'>): string => `${prefixOf(name)}${version}`

/** Where a rebuild of the same version is made, beside the schema that serves. */
export const nextSchemaOf = (group: Group): string => `${schemaOf(group)}_next`

/** What a rebuild has replaced, until it is dropped: `number` keeps several apart. */
export const oldSchemaOf = (group: Group, number: number): string => `${schemaOf(group)}_old_${number}`

/** A schema of a group, by its name: its version, and whether it serves or is what a rebuild makes or leaves. */
export type SchemaName = { readonly version: number; readonly serves: boolean }

/** Undefined for a schema that is none of the group's. */
export const parseSchema = (group: Pick<Group, 'name'>, schema: string): SchemaName | undefined => {
  const rest = schema.startsWith(prefixOf(group.name)) ? schema.slice(prefixOf(group.name).length) : ''
  const found = /^(\d{1,9})(_next|_old_\d{1,9})?$/.exec(rest)
  return found ? { version: Number(found[1]), serves: found[2] === undefined } : undefined
}
