import { commandName, shellWord } from '../../cli/command-name.ts'
import { errorMessage } from '../../cli/exit.ts'
import { hasStatus, isTemporaryFailure, RequestFailed } from '../api/errors.ts'
import type { Connection } from '../login/connect.ts'
import type { Reporter } from '../report/events.ts'
import { countOf } from '../report/text.ts'
import { type Claims, SourceBusy } from '../state/claims.ts'
import type { Duties, Duty } from '../state/duties.ts'
import { type OwedErasure, notice, type Upload } from './upload.ts'

/** The trace whose past is to be erased. `source` is where its secrets were found. */
export type Exposed = Pick<Duty, 'namespace' | 'externalId' | 'source'>

/** `exposed` is asked when it is known. `duties` is undefined in a dry run, which takes nothing out. */
export const newOwedErasure = (duties: Duties | undefined, exposed: () => Exposed): OwedErasure => {
  const known = new Set<string>()
  let isOwed = false
  return {
    owe: async (hashes) => {
      const more = hashes.filter((hash) => !known.has(hash))
      if (isOwed && more.length === 0) return
      await duties?.add({ ...exposed(), hashes: more })
      isOwed = true
      more.forEach((hash) => known.add(hash))
    },
    isOwed: () => isOwed,
    hashes: () => [...known],
  }
}

const isAbout =
  ({ namespace, externalId, source }: Exposed) =>
  (duty: Duty): boolean =>
    duty.namespace === namespace && duty.externalId === externalId && duty.source === source

const unlessMissing = (error: unknown): undefined => {
  if (hasStatus(error, 404)) return undefined
  throw error
}

/**
 * Throws if a trace whose past the service does not find is there: the user may not see it any more, or the service is of an older version, which
 * erases nothing.
 */
const requireGone = async (
  { api }: Pick<Connection, 'api'>,
  { namespace: slug, externalId }: Exposed,
): Promise<void> => {
  const found = await api.namespace(slug).catch(unlessMissing)
  if (found?.role === undefined)
    throw new RequestFailed(`you are not a member of the namespace ${slug}, to which the trace belongs`, {
      status: 404,
    })
  if (await api.trace(externalId, slug).catch(unlessMissing))
    throw new RequestFailed('the service has the trace, but does not know how to erase its past', { status: 404 })
}

/**
 * Erases the past of a trace, and then removes the duties that asked for it, but none of another source, from which a secret may be taken out
 * just now. To be called by a process that has claimed the source. Returns how many events were erased. Throws RequestFailed.
 */
export const erasePast = async (
  connection: Pick<Connection, 'api' | 'namespaceSlug'>,
  duties: Duties,
  exposed: Exposed,
): Promise<number> => {
  const owed = (await duties.all()).filter(isAbout(exposed))
  let erased = 0
  try {
    const elsewhere = exposed.namespace === connection.namespaceSlug ? undefined : exposed.namespace
    erased = await connection.api.eraseHistory(exposed.externalId, elsewhere)
  } catch (error) {
    if (!hasStatus(error, 404)) throw error
    await requireGone(connection, exposed)
  }
  await duties.remove(owed)
  return erased
}

const secretsText = (hashes: readonly string[]): string => {
  const named = hashes.map((hash) => hash.slice(0, 12)).join(', ')
  return hashes.length === 0 ? 'a secret' : `${countOf(hashes.length, 'secret')} (${named})`
}

const sentText = (hashes: readonly string[]): string =>
  `${secretsText(hashes)} had been sent before ${hashes.length > 1 ? 'they were known as such' : 'it was known to be one'}: `

const takenOutText = (hashes: readonly string[]): string =>
  `${sentText(hashes)}it was taken out, and the past of the trace erased`

/** Said of what an earlier run has left to do: whether that run has taken the secrets out is not known. */
const erasedText = (hashes: readonly string[]): string =>
  `${sentText(hashes)}the past of the trace, which had ${hashes.length > 1 ? 'them' : 'it'}, was erased`

const wouldTakeOutText = (hashes: readonly string[]): string =>
  `${sentText(hashes)}the past of the trace, which has it, would be erased`

/** Why the past of a trace was not erased, and what happens next. */
export const keptText = (hashes: readonly string[], externalId: string, why: string): string => {
  const them = hashes.length > 1 ? 'them' : 'it'
  const command = `${commandName} rm --history ${shellWord(externalId)}`
  return `${sentText(hashes)}the history of the trace keeps ${them}. "${command}" erases ${them} (${why}); the next run tries it again`
}

/** The trace that an upload takes secrets out of. */
export const exposedBy = ({ destination: { connection }, state: { externalId, source } }: Upload): Exposed => ({
  namespace: connection.namespaceSlug,
  externalId,
  source,
})

/** Returns why the past of a trace could not be erased; undefined if it was. */
const tryToErase = async (upload: Upload): Promise<string | undefined> => {
  const { connection, states } = upload.destination
  try {
    await erasePast(connection, states.duties, exposedBy(upload))
    return undefined
  } catch (error) {
    return errorMessage(error)
  }
}

/**
 * Erases the past of a trace that has secrets which an upload has taken out, and reports it. What could not be erased stays a duty, which the next
 * run does; so does what is owed for a session of which not everything has arrived. Returns whether it still is one.
 */
export const eraseExposed = async (
  upload: Upload,
  { isComplete, dryRun = false }: { readonly isComplete: boolean; readonly dryRun?: boolean },
): Promise<boolean> => {
  const { owed, counts, report, state } = upload
  if (!owed.isOwed()) return false
  const [hashes, { source: file, externalId }] = [owed.hashes(), state]
  const why = isComplete && !dryRun ? await tryToErase(upload) : undefined
  if (dryRun || (isComplete && why === undefined)) {
    notice(upload, dryRun ? wouldTakeOutText(hashes) : takenOutText(hashes))
    return false
  }
  counts.exposed++
  const message = keptText(hashes, externalId, why ?? 'not all of the session has arrived')
  report({ type: 'problem', kind: 'secret_in_history', file, externalId, message })
  return true
}

type Place = { readonly connection: Connection; readonly duties: Duties }

/** What is left of the duties of earlier runs. */
type Left = { readonly failed: number }

/**
 * Does what earlier runs have left to do at a service, and reports it. A duty of a process that still works on its source is left to that one.
 * `isLeftOut` names those that this run has tried already. Throws no RequestFailed: what fails stays a duty, and is reported. Throws StateFailed,
 * and the reason of an aborted signal.
 */
export const doDuties = async (
  { connection, duties }: Place,
  { alone }: Pick<Claims, 'alone'>,
  report: Reporter,
  isLeftOut: (duty: Duty) => boolean = () => false,
): Promise<Left> => {
  let failed = 0
  const owed = (await duties.all()).filter((duty) => !isLeftOut(duty))
  const keyOf = ({ namespace, externalId, source }: Duty) => JSON.stringify([namespace, externalId, source])
  for (const same of Map.groupBy(owed, keyOf).values()) {
    const { namespace, externalId, source } = same[0]!
    const hashes = [...new Set(same.flatMap((duty) => duty.hashes))]
    try {
      await alone(source, { waitMs: 0 }, () => erasePast(connection, duties, { namespace, externalId, source }))
      report({ type: 'notice', file: source, externalId, message: erasedText(hashes) })
    } catch (error) {
      if (error instanceof SourceBusy) continue
      if (!(error instanceof RequestFailed)) throw error
      failed++
      const message = keptText(hashes, externalId, errorMessage(error))
      report({ type: 'problem', kind: 'secret_in_history', file: source, externalId, message })
      // The others would wait as long.
      if (isTemporaryFailure(error)) break
    }
  }
  return { failed }
}
