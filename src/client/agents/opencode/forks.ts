import type { Database } from '../support/sqlite/load.ts'
import { columnsOf } from '../support/sqlite/snapshot.ts'

/** The title that the origin of a fork had: opencode adds `(fork #1)` to it, and counts on in forks of forks. */
const titleOfOrigin = (title: string): string => {
  const [, origin, number] = /^(.*) \(fork #(\d{1,9})\)$/s.exec(title) ?? []
  if (origin === undefined) return title
  return Number(number) === 1 ? origin : `${origin} (fork #${Number(number) - 1})`
}

/** When the last message was made that is older than its session: only a fork has such messages, with the times of those that it has copied. */
const lastCopied = (database: Database, id: string): number | undefined => {
  const row = database
    .prepare(
      `SELECT max(m.time_created) AS last FROM source.message m JOIN source.session s ON s.id = m.session_id
       WHERE s.id = ? AND m.time_created < s.time_created`,
    )
    .get(id)
  return typeof row?.['last'] === 'number' ? row['last'] : undefined
}

/**
 * The session of which another one is a fork (README, rule 10); undefined if it is none, or its origin was deleted. The origin is older, and has the last
 * message that was copied; of several, as where forks were made of one session, it is the one with the title that the fork's was made from, else the oldest.
 */
export const originOf = (database: Database, id: string): string | undefined => {
  if (!['session', 'message'].every((table) => columnsOf(database, table).has('time_created'))) return undefined
  const last = lastCopied(database, id)
  if (last === undefined) return undefined
  const rows = database
    .prepare(
      `SELECT o.id AS id, CAST(o.title AS TEXT) AS title, CAST(s.title AS TEXT) AS forked FROM source.session o, source.session s
       WHERE s.id = ? AND o.time_created < s.time_created
         AND EXISTS (SELECT 1 FROM source.message m WHERE m.session_id = o.id AND m.time_created = ?)
       ORDER BY o.time_created, o.id`,
    )
    .all(id, last)
  // Another fork of the same origin has the same title.
  const possible = rows.filter(({ title, forked }) => title !== forked)
  const named = possible.find(({ title, forked }) => title === titleOfOrigin(String(forked)))
  const origin = (named ?? possible[0])?.['id']
  return typeof origin === 'string' ? origin : undefined
}
