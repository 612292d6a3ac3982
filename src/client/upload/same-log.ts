import { NoNamespace } from '../api/client.ts'
import { RequestFailed } from '../api/errors.ts'
import type { Connection } from '../login/connect.ts'
import { isMemberOf } from '../login/membership.ts'
import { noLongerIn } from '../login/namespace-lost.ts'
import type { Destination } from './destination.ts'

/** The service lacks a trace, or messages, that it had acknowledged, and it was not the user who deleted them. */
export class SessionLost extends Error {
  override readonly name = 'SessionLost'
  constructor() {
    super('the service has lost messages of this session that it had acknowledged, for the second time')
  }
}

/** The service has another log than the one that was sent to: what was sent is not known to it. */
export class LogReplaced extends Error {
  override readonly name = 'LogReplaced'
  constructor() {
    super(
      'the service no longer has what was uploaded to it: it was restored from an older backup, or another service has its address',
    )
  }
}

/** Another process has noticed that the service has lost what was sent to it, and has forgotten the notes of that. */
export class NotesForgotten extends Error {
  override readonly name = 'NotesForgotten'
  constructor() {
    super(
      'another process has found that the service no longer has what was uploaded to it, and has deleted the notes of that',
    )
  }
}

/** The session is active in another namespace than at the beginning: its user was removed from that, or has switched to another one. */
export class OtherNamespace extends Error {
  override readonly name = 'OtherNamespace'
}

const requireSameNamespace = async ({ api, activeId, namespaceSlug }: Connection, now: string): Promise<void> => {
  if (now === activeId) return
  const why = (await isMemberOf(api, namespaceSlug))
    ? `you have switched from @${namespaceSlug} to another namespace`
    : noLongerIn(namespaceSlug)
  throw new OtherNamespace(why)
}

/**
 * Called if something that was stored is missing, and before a watch sends anything. Throws LogReplaced if the service has
 * another log, or one without the last write that it has acknowledged, as after a restored backup; OtherNamespace; and RequestFailed, also when the
 * service does not know yet which log it has.
 */
export const requireSameLog = async ({
  connection,
  states,
}: Pick<Destination, 'connection' | 'states'>): Promise<void> => {
  const [known, lastWrite] = [states.logId(), states.lastWrite()]
  const { session, logId, holds } = await connection.api.session(lastWrite).catch((error: unknown) => {
    throw error instanceof NoNamespace ? new OtherNamespace(noLongerIn(connection.namespaceSlug)) : error
  })
  if (holds === false) throw new LogReplaced()
  await requireSameNamespace(connection, session.namespaceId)
  if (known === undefined || known === logId) return
  if (logId === undefined) throw new RequestFailed('the service does not say yet which log it has', { status: 503 })
  throw new LogReplaced()
}

/**
 * Called if a trace that was stored is missing: the service has lost it, or it was deleted, which shows when it is sent again. Throws
 * SessionLost, and what `requireSameLog` throws.
 */
export const throwLost = async (destination: Destination): Promise<never> => {
  await requireSameLog(destination)
  throw new SessionLost()
}
