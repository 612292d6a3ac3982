import { commandName } from '../../cli/command-name.ts'
import { escapeControls } from '../../cli/escape.ts'
import { UsageError } from '../../cli/exit.ts'
import { hasStatus } from '../../sync/api/errors.ts'
import { parseTraceLink } from '../../sync/api/trace-link.ts'
import { type TraceDetail, type TracesClient, newTracesClient } from '../../sync/api/traces.ts'
import { sessionHasEnded } from '../../sync/login/connect.ts'
import { type Access, noticedTiming, openAccess } from './access.ts'
import type { ClientOptions } from '../declared/command.ts'
import { tracePages } from './pages.ts'

/** A trace that was found, and the access with which it was. */
export type Found = { readonly access: Access; readonly trace: TraceDetail; readonly traces: TracesClient }

/** Shorter beginnings of ids are taken for typing errors. */
const MIN_PREFIX = 4
const PAGE = 1_000
/** Further traces are not looked through for the beginning of an id. */
const MOST_PAGES = 20
/** So many ids are shown of those that begin alike. */
const SHOWN = 5

/** The id of a trace, and the access with which it is to be asked for: that of the link where one was given. */
export type NamedTrace = { readonly access: Access; readonly externalId: string; readonly isLink: boolean }

/** What the user has named: a link tells its server and namespace, which may not contradict the options. */
const named = (access: Access, { server, namespace }: ClientOptions, name: string): NamedTrace => {
  const link = parseTraceLink(name)
  if (!link) return { access, externalId: name, isLink: false }
  const linked = openAccess({
    server: link.server,
    ...((link.namespace ?? namespace) ? { namespace: (link.namespace ?? namespace)! } : {}),
  })
  if (server !== undefined && linked.server !== access.server)
    throw new UsageError(`The link leads to ${linked.server}: leave out --server`)
  if (namespace !== undefined && linked.namespace !== namespace)
    throw new UsageError(`The link leads to the namespace "${linked.namespace}": leave out --namespace`)
  return { access: linked, externalId: link.externalId, isLink: true }
}

/** The ids of a namespace that begin so. @throws UsageError where there are too many traces to look through */
const idsWithPrefix = async (traces: TracesClient, slug: string, prefix: string): Promise<string[]> => {
  const found: string[] = []
  let pages = 0
  for await (const page of tracePages((query) => traces.list(slug, query), PAGE)) {
    if (++pages > MOST_PAGES)
      throw new UsageError(`There are too many traces to look for one that begins with "${prefix}": give the whole id`)
    found.push(...page.flatMap(({ externalId }) => (externalId.startsWith(prefix) ? [externalId] : [])))
  }
  return found
}

const notFound = (name: string, namespace: string | undefined): UsageError => {
  const [where, option] =
    namespace === undefined ? ['', ''] : [` in the namespace "${namespace}"`, ` --namespace ${namespace}`]
  const short = name.length < MIN_PREFIX ? ` Of an id, at least ${MIN_PREFIX} characters are needed.` : ''
  return new UsageError(
    `There is no trace "${name}"${where} that you may read.${short} Your traces are listed by: ${commandName} ls${option}`,
  )
}

const ambiguous = (prefix: string, ids: readonly string[]): UsageError => {
  const shown = ids.slice(0, SHOWN).map((id) => `\n  ${escapeControls(id)}`)
  const more = ids.length > SHOWN ? `\n  and ${ids.length - SHOWN} more` : ''
  return new UsageError(`${ids.length} traces begin with "${prefix}": give more of the id.${shown.join('')}${more}`)
}

/** The namespace that is looked through, and the id there that begins so, if one does. @throws UsageError where several do */
const idByPrefix = async (access: Access, traces: TracesClient, prefix: string) => {
  if (prefix.length < MIN_PREFIX) return undefined
  const namespace = (await access.connect()).namespaceSlug
  const ids = await idsWithPrefix(traces, namespace, prefix)
  if (ids.length > 1) throw ambiguous(prefix, ids)
  return ids[0] === undefined ? undefined : { namespace, externalId: ids[0] }
}

const notPublic = (server: string): UsageError =>
  new UsageError(`The trace is not public, or not there. Log in first: ${commandName} login --server ${server}`)

/** The trace with this id; undefined where there is none. @throws UsageError where a login is needed, RequestFailed */
const traceById = async (access: Access, traces: TracesClient, externalId: string): Promise<TraceDetail | undefined> =>
  traces.trace(externalId, access.namespace).catch(async (error: unknown) => {
    if (hasStatus(error, 404)) return undefined
    if (!hasStatus(error, 401)) throw error
    throw (await access.token()) === undefined ? notPublic(access.server) : sessionHasEnded(access.server)
  })

/** The trace that a user names: see `idHelp`. @throws UsageError, also where there is none; RequestFailed */
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
 * The id that a user names, as in `findTrace`, where the trace may not be there yet: the beginning of no id of a trace that is there is
 * a whole id. @throws UsageError, RequestFailed
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
 * The same trace with a client that may write to it: whose session is in its namespace, where its id means this trace.
 * @throws UsageError for one of a namespace that the user is no member of
 */
export const findWritable = async (given: Access, options: ClientOptions, name: string): Promise<Found> => {
  const { access, trace } = await findTrace(given, options, name)
  const { slug } = trace.namespace
  const inNamespace = openAccess({ server: access.server, namespace: slug })
  const { token } = await inNamespace.connect({ readOnly: false })
  return { access: inNamespace, trace, traces: newTracesClient(access.server, token, noticedTiming) }
}

/** What a refusal to change a trace means. @throws Error, and any other error as it is */
export const explainRefusal =
  ({ externalId }: TraceDetail) =>
  (error: unknown): never => {
    if (hasStatus(error, 403))
      throw new Error(`Only who made the trace "${externalId}", or an admin of its namespace, may do that.`, {
        cause: error,
      })
    if (hasStatus(error, 404)) throw new Error(`The trace "${externalId}" is gone.`, { cause: error })
    throw error
  }
