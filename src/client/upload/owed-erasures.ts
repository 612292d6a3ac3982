import { shellWord } from '../../base/escape.ts'
import { commandName } from '../../cli/command-name.ts'
import { errorMessage } from '../../cli/exit.ts'
import { hasStatus, isTemporaryFailure, RequestFailed } from '../api/errors.ts'
import type { Connection } from '../login/connect.ts'
import type { Reporter } from '../report/events.ts'
import { countOf } from '../report/text.ts'
import type { Duties, Duty } from '../state/duties.ts'
import { notice, type Upload } from './upload.ts'

/** The trace whose past is to be erased. `source` is where its secrets were found. */
export type Exposed = Pick<Duty, 'namespace' | 'externalId' | 'source'>

const isAbout =
  ({ namespace, externalId, source }: Exposed) =>
  (duty: Duty): boolean =>
    duty.namespace === namespace && duty.externalId === externalId && duty.source === source

/** What the service answers to users who may not do something. */
const FORBIDDEN = { status: 403, code: 'forbidden' }

/** Whether the user has no right to erase: that does not pass by itself. */
const isForbidden = (error: unknown): error is RequestFailed =>
  hasStatus(error, FORBIDDEN.status) && error.code === FORBIDDEN.code

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
    throw new RequestFailed(`you are not a member of the namespace ${slug}, to which the trace belongs`, FORBIDDEN)
  if (await api.trace(externalId, slug).catch(unlessMissing))
    throw new RequestFailed('the service has the trace, but does not know how to erase its past', { status: 404 })
}

/**
 * Erases the past of a trace, and then removes the duties that asked for it, but none of another source, from which a secret may be taken out
 * just now. To be called by the only uploader. Returns how many events were erased. Throws RequestFailed.
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

/** Why the past of a trace is left as it is, and what the user can do; said once. */
const refusedText = (hashes: readonly string[], { namespace, externalId }: Exposed, why: string): string => {
  const them = hashes.length > 1 ? 'them' : 'it'
  const command = `${commandName} rm --history --namespace ${shellWord(namespace)} ${shellWord(externalId)}`
  return (
    `${sentText(hashes)}the history of the trace keeps ${them}, and you may not erase it (${why}). Ask an admin of the namespace to run ` +
    `"${command}". Each run tries it again, in case you may later, but says nothing of it any more`
  )
}

/** The trace that an upload takes secrets out of. */
const exposedBy = ({ destination: { connection }, state: { externalId, source } }: Upload): Exposed => ({
  namespace: connection.namespaceSlug,
  externalId,
  source,
})

/**
 * Stores that the past of a trace has to be erased, before anything is sent that takes secrets out. `hashes` are those that are known. A dry run,
 * which takes nothing out, stores nothing.
 */
export const owe = async (upload: Upload, hashes: readonly string[]): Promise<void> => {
  const { owed = new Set<string>(), destination, dryRun } = upload
  const more = hashes.filter((hash) => !owed.has(hash))
  if (upload.owed && more.length === 0) return
  if (!dryRun) await destination.states.duties.add({ ...exposedBy(upload), hashes: more })
  upload.owed = new Set([...owed, ...more])
}

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
export const eraseExposed = async (upload: Upload, isComplete: boolean): Promise<boolean> => {
  const { owed, dryRun, session, state } = upload
  if (!owed) return false
  const [hashes, { source: file, externalId }] = [[...owed], state]
  const why = isComplete && !dryRun ? await tryToErase(upload) : undefined
  if (dryRun || (isComplete && why === undefined)) {
    notice(upload, dryRun ? wouldTakeOutText(hashes) : takenOutText(hashes))
    return false
  }
  session.counts.exposed++
  const message = keptText(hashes, externalId, why ?? 'not all of the session has arrived')
  session.report({ type: 'problem', kind: 'secret_in_history', file, externalId, message })
  return true
}

type Place = { readonly connection: Connection; readonly duties: Duties }

/** How many duties of earlier runs have failed, and how many users know already that they may not do. */
type Left = { readonly failed: number; readonly refused: number }

/** The duties about one trace from one source, and the secrets. */
type SameDuties = { readonly exposed: Exposed; readonly same: readonly Duty[]; readonly hashes: readonly string[] }

const keyOf = ({ namespace, externalId, source }: Duty) => JSON.stringify([namespace, externalId, source])

const together = (duties: readonly Duty[]): readonly SameDuties[] =>
  [...Map.groupBy(duties, keyOf).values()].map((same) => {
    const { namespace, externalId, source } = same[0]!
    return {
      exposed: { namespace, externalId, source },
      same,
      hashes: [...new Set(same.flatMap(({ hashes }) => hashes))],
    }
  })

/**
 * To be called by the only uploader. `told`: the user may not do it, and was told so now; `refused`: and was told before. Throws
 * RequestFailed.
 */
const doDuty = async (
  { connection, duties }: Place,
  { exposed, same, hashes }: SameDuties,
  report: Reporter,
): Promise<'done' | 'refused' | 'told'> => {
  const { source: file, externalId } = exposed
  try {
    await erasePast(connection, duties, exposed)
    report({ type: 'notice', file, externalId, message: erasedText(hashes) })
    return 'done'
  } catch (error) {
    if (!isForbidden(error)) throw error
    if (same.every(({ isRefused }) => isRefused)) return 'refused'
    const message = refusedText(hashes, exposed, errorMessage(error))
    report({ type: 'problem', kind: 'secret_in_history', file, externalId, message })
    await duties.noteRefused(same).catch(() => {}) // then the next run says it again
    return 'told'
  }
}

/**
 * Does what earlier runs have left to do at a service, and reports it. To be called by the only uploader.
 * `isLeftOut` names those that this run has tried already. Throws no RequestFailed: what fails stays a duty, and is reported; what the user may
 * not do any more stays one as well, but is reported only by the first run that learns it. Throws StateFailed, and the reason of an aborted signal.
 */
export const doDuties = async (
  place: Place,
  report: Reporter,
  isLeftOut: (duty: Duty) => boolean = () => false,
): Promise<Left> => {
  let [failed, refused] = [0, 0]
  const owed = (await place.duties.all()).filter((duty) => !isLeftOut(duty))
  for (const some of together(owed)) {
    const { exposed, hashes } = some
    const { source: file, externalId } = exposed
    try {
      const outcome = await doDuty(place, some, report)
      if (outcome === 'refused') refused++
      if (outcome === 'told') failed++
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error
      failed++
      const message = keptText(hashes, externalId, errorMessage(error))
      report({ type: 'problem', kind: 'secret_in_history', file, externalId, message })
      // The others would wait as long.
      if (isTemporaryFailure(error)) break
    }
  }
  return { failed, refused }
}
