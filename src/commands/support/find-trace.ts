import { commandName } from '../../cli/command-name.ts'
import { escapeControls } from '../../base/escape.ts'
import { UsageError } from '../../cli/exit.ts'
import { hasStatus } from '../../client/api/errors.ts'
import { parseTraceLink } from '../../client/api/trace-link.ts'
import { type TraceDetail, type TracesClient, newTracesClient } from '../../client/api/traces.ts'
import { sessionHasEnded } from '../../client/login/connect.ts'
import { type Access, noticedTiming, openAccess } from './access.ts'
import type { ClientOptions } from './access.ts'
import { tracePages } from './pages.ts'

/** A trace that was found, and the access with which it was found. */
export type Found = { readonly access: Access; readonly trace: TraceDetail; readonly traces: TracesClient }

/** Shorter prefixes of ids are considered typing errors. */
const MIN_PREFIX = 4
const PAGE = 1_000
/** A prefix is searched in at most this many pages. */
const MOST_PAGES = 20
/** At most this many ids are listed in an error. */
const SHOWN = 5

/** The id of a trace, and the access to request it with: that of the link, if one was given. */
type NamedTrace = { readonly access: Access; readonly externalId: string; readonly isLink: boolean }

/** Parses an id or a link. A link has its own server and namespace, which must not contradict the options. @throws UsageError */
const named = (access: Access, { server, namespace }: ClientOptions, name: string): NamedTrace => {
  const link = parseTraceLink(name)
  if (!link) return { access, externalId: name, isLink: false }
  const linked = openAccess({
    server: link.server,
    ...((link.namespace ?? namespace) ? { namespace: (link.namespace ?? namespace)! } : {}),
  })
  if (server !== undefined && linked.server !== access.server)
    throw new UsageError(`The link is for ${linked.server}: leave out --server.`)
  if (namespace !== undefined && linked.namespace !== namespace)
    throw new UsageError(`The link is for the namespace "${linked.namespace}": leave out --namespace.`)
  return { access: linked, externalId: link.externalId, isLink: true }
}

/** The ids of a namespace with a prefix. @throws UsageError if there are too many traces to search */
const idsWithPrefix = async (traces: TracesClient, slug: string, prefix: string): Promise<string[]> => {
  const found: string[] = []
  let pages = 0
  for await (const page of tracePages((query) => traces.list(slug, query), PAGE)) {
    if (++pages > MOST_PAGES)
      throw new UsageError(`There are too many traces to search for the prefix "${prefix}": give the whole id.`)
    found.push(...page.flatMap(({ externalId }) => (externalId.startsWith(prefix) ? [externalId] : [])))
  }
  return found
}

const notFound = (name: string, namespace: string | undefined): UsageError => {
  const [where, option] =
    namespace === undefined ? ['', ''] : [` in the namespace "${namespace}"`, ` --namespace ${namespace}`]
  const short = name.length < MIN_PREFIX ? ` A prefix of an id needs at least ${MIN_PREFIX} characters.` : ''
  return new UsageError(
    `There is no trace "${name}"${where} that you may read.${short} To list your traces, run: ${commandName} ls${option}`,
  )
}

const ambiguous = (prefix: string, ids: readonly string[]): UsageError => {
  const shown = ids.slice(0, SHOWN).map((id) => `\n  ${escapeControls(id)}`)
  const more = ids.length > SHOWN ? `\n  and ${ids.length - SHOWN} more` : ''
  return new UsageError(
    `"${prefix}" matches ${ids.length} traces: give more characters of the id.${shown.join('')}${more}`,
  )
}

/** The searched namespace, and the id there with the prefix, if there is one. @throws UsageError if there are several */
const idByPrefix = async (access: Access, traces: TracesClient, prefix: string) => {
  if (prefix.length < MIN_PREFIX) return undefined
  const namespace = (await access.connect()).namespaceSlug
  const ids = await idsWithPrefix(traces, namespace, prefix)
  if (ids.length > 1) throw ambiguous(prefix, ids)
  return ids[0] === undefined ? undefined : { namespace, externalId: ids[0] }
}

const notPublic = (server: string): UsageError =>
  new UsageError(`The trace does not exist, or is not public. To log in, run: ${commandName} login --server ${server}`)

/** The trace with this id, if there is one. @throws UsageError if a login is needed, RequestFailed */
const traceById = async (access: Access, traces: TracesClient, externalId: string): Promise<TraceDetail | undefined> =>
  traces.trace(externalId, access.namespace).catch(async (error: unknown) => {
    if (hasStatus(error, 404)) return undefined
    if (hasStatus(error, 308) && error.movedTo !== undefined) return traces.trace(externalId, error.movedTo)
    if (!hasStatus(error, 401)) throw error
    throw (await access.token()) === undefined ? notPublic(access.server) : sessionHasEnded(access.server)
  })

/** The trace with an id, a prefix of its id, or a link. @throws UsageError, also if there is none; RequestFailed */
export const findTrace = async (given: Access, options: ClientOptions, name: string): Promise<Found> => {
  const { access, externalId, isLink } = named(given, options, name)
  const token = await access.token()
  const traces = newTracesClient(access.server, token, noticedTiming)
  const exact = await traceById(access, traces, externalId)
  const found = exact || isLink || token === undefined ? undefined : await idByPrefix(access, traces, externalId)
  const trace = exact ?? (found && (await traces.trace(found.externalId, found.namespace)))
  if (!trace) throw token === undefined ? notPublic(access.server) : notFound(externalId, access.namespace)
  return { access, trace, traces }
}

/**
 * The id of a trace that may not exist yet: what is neither an id nor a prefix of an id of an existing trace is taken as a whole id.
 * @throws UsageError, RequestFailed
 */
export const nameTrace = async (given: Access, options: ClientOptions, name: string): Promise<NamedTrace> => {
  const { access, externalId, isLink } = named(given, options, name)
  const token = await access.token()
  if (isLink || token === undefined) return { access, externalId, isLink }
  const traces = newTracesClient(access.server, token, noticedTiming)
  const isWhole = (await traceById(access, traces, externalId)) !== undefined
  const found = isWhole ? undefined : await idByPrefix(access, traces, externalId)
  return { access, externalId: found?.externalId ?? externalId, isLink }
}

/**
 * The same as `findTrace`, with a client that may write to the trace: its session is in the namespace of the trace.
 * @throws UsageError if the user is not a member of that namespace
 */
export const findWritable = async (given: Access, options: ClientOptions, name: string): Promise<Found> => {
  const { access, trace } = await findTrace(given, options, name)
  const { slug } = trace.namespace
  const inNamespace = openAccess({ server: access.server, namespace: slug })
  const { token } = await inNamespace.connect({ readOnly: false })
  return { access: inNamespace, trace, traces: newTracesClient(access.server, token, noticedTiming) }
}

/** Explains why a trace may not be changed. @throws Error; any other error unchanged */
export const explainRefusal =
  ({ externalId }: TraceDetail) =>
  (error: unknown): never => {
    if (hasStatus(error, 403))
      throw new Error(`Only the creator of the trace "${externalId}", or an admin of its namespace, may do that.`, {
        cause: error,
      })
    if (hasStatus(error, 404)) throw new Error(`The trace "${externalId}" no longer exists.`, { cause: error })
    throw error
  }
