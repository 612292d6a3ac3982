import { MOST_PROVEN_MESSAGES } from '../../../contract/proof.ts'
import { hasStatus } from '../../../client/api/errors.ts'
import type { MessageProofs, ProofsClient, ProvenMessageEvent } from '../../../client/api/proofs.ts'
import { SessionChanged } from '../../../server/proof/evidence/assemble.ts'
import type { WantedSession } from './lines.ts'
import { type Patience, isNotCovered } from './patience.ts'

/** What takes the answers for sessions. */
export type Taker = {
  /** Takes the events of an answer for the session with this number. */
  readonly take: (session: number, events: readonly ProvenMessageEvent[]) => Promise<void>
  /** Notes a message whose events are too large to be asked for. */
  readonly tooLarge: (session: number, message: string) => void
  /** Everything is taken again, for another tree. */
  readonly restart: () => Promise<void>
  /** Called after each session. */
  readonly done: (sessions: number) => void
}

type Asked = { readonly client: Pick<ProofsClient, 'ofMessages'>; readonly patience: Patience }

/** A tree that proofs lead to; its checkpoint comes with the first answer. */
export type Tree = { readonly size: number; readonly checkpoint: string }

const explain =
  ({ externalId }: WantedSession) =>
  (error: unknown): never => {
    if (!hasStatus(error, 404) || isNotCovered(error)) throw error
    throw new SessionChanged(`The session ${externalId} was changed or deleted meanwhile: run this again.`)
  }

/** Asks for the messages of a session, a hundred at a time, and of what is too large for one answer for fewer. */
async function* answersFor(
  { client, patience }: Asked,
  session: WantedSession,
  tree: Tree | undefined,
  tooLarge: (message: string) => void,
): AsyncGenerator<MessageProofs, void> {
  const messages = [...session.messages]
  let most = MOST_PROVEN_MESSAGES
  for (let from = 0, isFirst = true; isFirst || from < messages.length;) {
    const some = messages.slice(from, from + most)
    const body = { messages: some, ...(tree ? { size: tree.size } : {}) }
    const request = () => client.ofMessages(session.externalId, session.namespace, body).catch(explain(session))
    try {
      const answer = await (tree ? request() : patience.ask(request))
      yield answer
      tree ??= { size: answer.size, checkpoint: answer.checkpoint! }
      isFirst = false
      from += some.length
    } catch (error) {
      if (!hasStatus(error, 400) || some.length === 0) throw error
      if (some.length > 1) most = Math.ceil(some.length / 2)
      else {
        tooLarge(some[0]!)
        from += 1
      }
    }
  }
}

/**
 * Collects the proofs of all sessions in one tree: that of the newest checkpoint that covers the session that was written last. Where it does not cover another one, because
 * that goes on, everything is asked for again. @returns undefined without sessions
 * @throws SessionChanged, RequestFailed, Error
 */
export const collectProofs = async (
  asked: Asked,
  sessions: readonly WantedSession[],
  { take, tooLarge, restart, done }: Taker,
): Promise<Tree | undefined> => {
  const newestFirst = [...sessions.entries()].sort(([, a], [, b]) => b.at - a.at)
  for (;;)
    try {
      let tree: Tree | undefined
      let count = 0
      for (const [number, session] of newestFirst) {
        for await (const answer of answersFor(asked, session, tree, (message) => tooLarge(number, message))) {
          tree ??= { size: answer.size, checkpoint: answer.checkpoint! }
          await take(number, answer.events)
        }
        done(++count)
      }
      return tree
    } catch (error) {
      if (!isNotCovered(error)) throw error
      await asked.patience.wait(error)
      await restart()
    }
}
