import { basename } from 'node:path'
import { acceptedId } from '../support/external-ids.ts'
import { type Json, objectOf, textOf } from '../support/json.ts'
import { storedTitle } from '../support/trace-fields.ts'
import { threadIdOf } from './files.ts'

/** What lines say about the session itself, as plain JSON. `session` is the part of its `session_meta` that is used. */
export type Meta = { readonly session?: Json; readonly cwd?: string; readonly name?: string }

/** The thread that started this sub-agent's. Newer versions also store it beside the thread's id. */
const parentIn = ({ parent_thread_id, source }: Json): unknown =>
  textOf(parent_thread_id) ?? objectOf(objectOf(objectOf(source)['subagent'])['thread_spawn'])['parent_thread_id']

const neededOf = (session: Json): Json => {
  const { id, cwd, git } = session
  const { branch, commit_hash, repository_url } = objectOf(git)
  return { id, cwd, git: { branch, commit_hash, repository_url }, parent: parentIn(session) }
}

/** The name that an event gives the session; undefined for other events, and for events that a fork has copied from its parent. */
const nameIn = ({ session }: Meta, { type, thread_id: id, thread_name: name }: Json): string | undefined => {
  const isOwn = id === undefined || id === null || id === session?.['id']
  return type === 'thread_name_updated' && isOwn ? storedTitle(name) : undefined
}

/** What is known of the session after one more line (README, rules 1 and 11). */
export const withLine = (meta: Meta, { type, payload }: Json): Meta => {
  const name = type === 'event_msg' ? nameIn(meta, objectOf(payload)) : undefined
  if (name !== undefined) return { ...meta, name }
  if (type === 'session_meta') return meta.session ? meta : { ...meta, session: neededOf(objectOf(payload)) }
  const cwd = type === 'turn_context' && meta.cwd === undefined ? textOf(objectOf(payload)['cwd']) : undefined
  return cwd === undefined ? meta : { ...meta, cwd }
}

/** The id of the session as the CLI stores it. */
export const sessionIdOf = (path: string, { session }: Meta): string =>
  textOf(session?.['id']) ?? threadIdOf(path) ?? basename(path).replace(/\.jsonl(\.zst)?$/, '')

export const externalIdOf = (path: string, meta: Meta): string => acceptedId(sessionIdOf(path, meta), 'session')

/** The externalId of the session that started this one. */
export const parentOf = ({ session }: Meta): string | undefined => {
  const parent = textOf(session?.['parent'])
  return parent === undefined ? undefined : acceptedId(parent, 'session')
}

/** The folder in which the session took place, and what git said about it. */
export const placeOf = ({ session, cwd }: Meta) => {
  const git = objectOf(session?.['git'])
  return {
    projectPath: textOf(session?.['cwd']) ?? cwd,
    gitBranch: textOf(git['branch']),
    gitRef: textOf(git['commit_hash']),
    gitRemoteUrl: textOf(git['repository_url']),
  }
}
