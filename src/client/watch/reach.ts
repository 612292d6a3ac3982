import type { TellLoss } from '../login/membership.ts'
import type { Reporter } from '../report/events.ts'
import type { StateFailed } from '../state/state-file.ts'

/** Whether the service answers, when that has changed, and whether it is still the same one. */
export type ReachEvent = {
  readonly type: 'connection'
  readonly state: 'out of reach' | 'back' | 'replaced' | 'removed'
  readonly message: string
}

/** The report when a service lacks data that it had acknowledged. */
export const replacedEvent = (server: string): ReachEvent & { readonly state: 'replaced' } => ({
  type: 'connection',
  state: 'replaced',
  message: `${server} was restored from a backup, or is another service: sessions that it does not have are uploaded again`,
})

/** After how many milliseconds without an answer a service is reported as out of reach. */
const NOTICEABLE_MS = 2_000

export type Reach = {
  readonly noteWait: (ms: number) => void
  readonly noteAnswer: () => void
  /** The service has another log than before. */
  readonly noteReplaced: () => void
  /** The user was removed from the namespace of the login. The next command says it as well, because the log is maybe read by nobody. */
  readonly noteRemoved: TellLoss
}

/** Reports once that the service is out of reach, once that it is back, and each time that it is another one. */
export const newReach = (server: string, report: (event: ReachEvent) => void): Reach => {
  let waitedMs = 0
  let isAway = false
  const noteWait = (ms: number) => {
    waitedMs += ms
    if (isAway || waitedMs < NOTICEABLE_MS) return
    isAway = true
    const message = `${server} is out of reach or busy: new messages are uploaded once it answers again`
    report({ type: 'connection', state: 'out of reach', message })
  }
  const noteAnswer = () => {
    if (isAway) report({ type: 'connection', state: 'back', message: `${server} is back` })
    waitedMs = 0
    isAway = false
  }
  const noteReplaced = () => {
    report(replacedEvent(server))
  }
  const noteRemoved = (message: string) => {
    report({ type: 'connection', state: 'removed', message })
    return false
  }
  return { noteWait, noteAnswer, noteReplaced, noteRemoved }
}

/** Reports whether the record of uploads can be written, when that changes. */
export type Notes = { readonly noteFailure: (error: StateFailed) => void; readonly noteSuccess: () => void }

/** Reports once that a file cannot be written, as on a full disk, and once that it can be again. */
export const newNotes = (report: Reporter): Notes => {
  let failed: string | undefined
  return {
    noteFailure: ({ path: file, reason }) => {
      if (failed === file) return
      failed = file
      const message = `${reason}: new messages are uploaded once this file can be written again`
      report({ type: 'problem', kind: 'state_failed', file, message })
    },
    noteSuccess: () => {
      if (failed !== undefined) report({ type: 'notice', file: failed, message: 'this file can be written again' })
      failed = undefined
    },
  }
}
