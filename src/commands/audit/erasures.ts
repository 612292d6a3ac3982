import { mainGroup } from '../../../projections/index.ts'
import { escapeControls } from '../../base/escape.ts'
import { exitCodes } from '../../cli/exit.ts'
import { shortTime } from '../../cli/time-text.ts'
import { writeOut } from '../../cli/output.ts'
import type { Client } from '../../eventstore/engine/checkpoint.ts'
import { schemaOf } from '../../eventstore/engine/group.ts'
import { type DeletedTrace, deletionsIn, readErasureState } from '../../server/erasure/deletions.ts'
import { isId } from '../../base/ids.ts'
import { uuids } from '../../eventstore/postgres/arrays.ts'
import { newClient, withConnection } from '../../eventstore/postgres/connect.ts'
import { SqlState, hasSqlState } from '../../eventstore/postgres/sql-state.ts'
import { withLog } from '../support/with-log.ts'

type Options = { readonly json?: boolean; readonly pending?: boolean }

/** Current names of users and namespaces by id; unknown ones are missing. */
type Names = { readonly users: ReadonlyMap<string, string>; readonly slugs: ReadonlyMap<string, string> }

const schema = schemaOf(mainGroup)

/** No rows if no service of this version has run on the database, so that its read models are missing. */
const rowsOf = async <Row extends object>(client: Client, text: string, ids: Iterable<string>): Promise<Row[]> => {
  try {
    return (await client.query<Row>({ text, values: [uuids([...new Set(ids)].filter(isId))] })).rows
  } catch (error) {
    if (hasSqlState(error, SqlState.undefinedTable)) return []
    throw error
  }
}

const readNames = async (
  client: Client,
  { users, namespaces }: { readonly users: Iterable<string>; readonly namespaces: Iterable<string> },
): Promise<Names> => {
  const people = await rowsOf<{ id: string; name: string | null }>(
    client,
    `select id, display_name as name from ${schema}.users where id = any($1::uuid[])`,
    users,
  )
  const spaces = await rowsOf<{ id: string; slug: string }>(
    client,
    `select id, slug from ${schema}.namespaces where id = any($1::uuid[])`,
    namespaces,
  )
  return {
    users: new Map(people.flatMap(({ id, name }) => (name === null ? [] : [[id, JSON.parse(name) as string]]))),
    slugs: new Map(spaces.map(({ id, slug }) => [id, slug])),
  }
}

const PAGE = 200

const SYSTEM = 'system'

const toJson = (deleted: DeletedTrace, { users, slugs }: Names): string => {
  const { traceId, externalId, namespaceId, createdAt, deletedAt, deletedBy, messageCount, pending, isPast } = deleted
  return JSON.stringify({
    trace: { id: traceId, externalId },
    namespace: { id: namespaceId, slug: slugs.get(namespaceId) },
    createdAt,
    deletedAt,
    deletedBy: deletedBy ?? SYSTEM,
    displayName: deletedBy === undefined ? undefined : users.get(deletedBy),
    messageCount,
    onlyPast: isPast,
    state: pending ? 'pending' : 'done',
    ...pending,
  })
}

const columns = (when: string, state: string, messages: string, by: string, trace: string): string =>
  `${when.padEnd(20)}  ${state.padEnd(7)}  ${messages.padStart(8)}  ${by.padEnd(20)}  ${trace}`

const TITLES = columns('DELETED', 'STATE', 'MESSAGES', 'BY', 'TRACE')

const toLine = (deleted: DeletedTrace, { users, slugs }: Names): string => {
  const { externalId, namespaceId, createdAt, deletedAt, deletedBy, messageCount, pending, isPast } = deleted
  const by = deletedBy === undefined ? SYSTEM : (users.get(deletedBy) ?? deletedBy)
  const trace = `${slugs.get(namespaceId) ?? namespaceId}/${externalId} (${isPast ? 'its past only, ' : ''}created ${shortTime(createdAt)})`
  const state = pending ? 'pending' : 'done'
  const line = columns(shortTime(deletedAt), state, `${messageCount ?? '?'}`, escapeControls(by), escapeControls(trace))
  if (pending?.reason === undefined) return line
  return `${line}\n  not erased yet: ${escapeControls(pending.reason)} (failed attempts: ${pending.attempts})`
}

async function* pagesOf<T>(items: AsyncIterable<T>, size: number) {
  let page: T[] = []
  for await (const item of items) {
    page.push(item)
    if (page.length < size) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

export const erasures = ({ json = false, pending: pendingOnly = false }: Options): Promise<number> =>
  withLog(({ url, log, codec }) =>
    withConnection(newClient(url, 'audit'), async (client) => {
      let isEmpty = true
      for await (const page of pagesOf(deletionsIn(log, codec, await readErasureState(client)), PAGE)) {
        const shown = page.filter(({ pending }) => !pendingOnly || pending)
        const names = await readNames(client, {
          users: shown.flatMap(({ deletedBy }) => deletedBy ?? []),
          namespaces: shown.map(({ namespaceId }) => namespaceId),
        })
        if (isEmpty && !json && shown.length > 0) await writeOut(`${TITLES}\n`)
        if (shown.length > 0) isEmpty = false
        for (const deleted of shown)
          await writeOut(json ? `${escapeControls(toJson(deleted, names))}\n` : `${toLine(deleted, names)}\n`)
      }
      if (isEmpty && !json) await writeOut(pendingOnly ? 'No erasure is pending.\n' : 'No trace was deleted.\n')
      return exitCodes.ok
    }),
  )
