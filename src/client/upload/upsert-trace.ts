import type { Visibility } from '../../contract/trace.ts'
import type { TraceSummary } from '../api/client.ts'
import { hasStatus, RequestFailed } from '../api/errors.ts'
import type { Connection } from '../login/connect.ts'
import { NamespaceLost } from '../login/namespace-lost.ts'
import { isUnredacted, showsSecretOf } from './within.ts'

/** All values, without the schema of the contract, which help would have to load. */
export const visibilities = ['private', 'direct', 'public'] as const satisfies readonly Visibility[]
export type { Visibility }

/** Who may read a trace, before and after; `before` is undefined for a new one. */
export type VisibilityChange = { readonly before?: Visibility | undefined; readonly after: Visibility }

/** The fields to set. `visibility` is set only if the user asked for one; otherwise a new trace gets `visibilityOfNew`. */
type TraceChange = {
  readonly fields: Readonly<Record<string, string>>
  readonly visibility?: Visibility | undefined
  readonly visibilityOfNew?: Visibility | undefined
  /** Whether a field that the trace has stays as it is, unless a secret is taken out of it. */
  readonly stays?: (name: string, stored: string) => boolean
  /** Called once it is known whether another title than the one to set stays. */
  readonly onTitle?: (stays: boolean) => void
  /** Called before secrets are taken out of fields, with these as they are stored. */
  readonly takesOut?: (texts: readonly string[]) => Promise<void>
  /** The trace is changed only at this revision, if it is known. */
  readonly ifRevision?: number | undefined
  /** Whether a deleted trace stays deleted. */
  readonly unlessDeleted?: boolean
  /** Called with the visibility of the trace once it is known. */
  readonly onVisibility?: (change: VisibilityChange) => void
}

/** The trace with this id, if it belongs to the connection's namespace: the API also finds public traces of others. */
export const findOwnTrace = async (
  { api, namespaceId }: Connection,
  externalId: string,
): Promise<TraceSummary | undefined> => {
  try {
    const trace = await api.trace(externalId)
    return trace.namespace.id === namespaceId ? trace : undefined
  } catch (error) {
    if (hasStatus(error, 404)) return undefined
    throw error
  }
}

/** The fields of an existing trace that a change sets. */
export const patchOf = ({ fields, visibility, stays }: TraceChange, found: TraceSummary) => {
  const isSet = ([name, value]: readonly [string, string]) => {
    const stored = found[name as keyof TraceSummary] as string | undefined
    return stored === undefined || !stays?.(name, stored) || (stored !== value && isUnredacted(stored, value))
  }
  const set = Object.fromEntries(Object.entries(fields).filter(isSet))
  return { ...set, ...(visibility && visibility !== found.visibility ? { visibility } : {}) }
}

/** Whether a trace keeps a title that is another one than `fields` has. */
const isTitleLeft = ({ fields }: TraceChange, patch: ReturnType<typeof patchOf>, found: TraceSummary): boolean =>
  fields.title !== undefined && !('title' in patch) && found.title !== fields.title

/** The stored fields that show a secret which a change takes out. */
export const shownBy = (patch: Readonly<Record<string, string>>, found: TraceSummary): readonly string[] =>
  Object.entries(patch).flatMap(([name, value]) => {
    const stored = String(found[name as keyof TraceSummary] ?? '')
    return showsSecretOf(stored, value) ? [stored] : []
  })

/** `deleted`: the trace was deleted, and is not created again. */
export type Upserted = 'created' | 'updated' | 'unchanged' | 'deleted'

/** What became of a trace, and its revision; undefined if nothing was written. */
type Result<Of> = { readonly upserted: Of; readonly revision?: number | undefined }

/**
 * Updates an existing trace; undefined when there is none. Uses PATCH, because a PUT without `visibility` would make a public
 * trace private.
 */
export const updateTrace = async (
  connection: Connection,
  externalId: string,
  change: TraceChange,
): Promise<Result<'updated' | 'unchanged'> | undefined> => {
  const found = await findOwnTrace(connection, externalId)
  if (!found) return undefined
  const patch = patchOf(change, found)
  const isChanged = Object.keys(patch).length > 0
  const shown = shownBy(patch, found)
  if (shown.length > 0) await change.takesOut?.(shown)
  const { api, namespaceSlug } = connection
  change.onTitle?.(isTitleLeft(change, patch, found))
  const written = isChanged ? await api.patchTrace(namespaceSlug, externalId, patch, change.ifRevision) : undefined
  change.onVisibility?.({ before: found.visibility, after: change.visibility ?? found.visibility })
  return { upserted: isChanged ? 'updated' : 'unchanged', revision: written?.revision }
}

/**
 * Creates a trace that the namespace does not have. Throws NamespaceLost if the user is not a member of it any more: the trace is never created in
 * another one; and RequestFailed, with the code `changed` if another client has created and filled it meanwhile, and with `movedTo` if it was moved.
 */
export const createTrace = async (
  { api, namespaceSlug }: Connection,
  externalId: string,
  {
    fields,
    visibilityOfNew = 'private',
    visibility = visibilityOfNew,
    unlessDeleted = false,
    onVisibility,
  }: TraceChange,
): Promise<Result<'created' | 'deleted'>> => {
  try {
    const body = { ...fields, visibility }
    const { trace, revision } = await api.putTrace(namespaceSlug, externalId, body, { unlessDeleted, ifRevision: 0 })
    // It had the same fields already.
    if (trace.messageCount)
      throw new RequestFailed('another client has created the trace', { status: 409, code: 'changed' })
    onVisibility?.({ after: visibility })
    return { upserted: 'created', revision }
  } catch (error) {
    if (hasStatus(error, 404)) throw new NamespaceLost(namespaceSlug)
    if (hasStatus(error, 410) && error.movedTo === undefined) return { upserted: 'deleted' }
    throw error
  }
}
