import type { Change } from './changes.ts'

/** How many changes go into one round, and how many of these at most are not fresh while some are. */
const ROUND = 50
const NOT_FRESH = 10

/** The changes that wait for their upload, the latest one of each session. */
export type Waiting = {
  /** A change of which the system has just told. */
  readonly addFresh: (change: Change) => void
  /** A change that a scan has found, or that could not be uploaded. */
  readonly add: (change: Change) => void
  /** Takes out what is uploaded next: the fresh ones go first, so that they need not wait for a thousand old sessions. */
  readonly take: () => readonly Change[]
  readonly isEmpty: () => boolean
}

export const newWaiting = (): Waiting => {
  const fresh = new Map<string, Change>()
  const others = new Map<string, Change>()
  return {
    addFresh: (change) => {
      others.delete(change.session.source)
      fresh.set(change.session.source, change)
    },
    add: (change) => {
      const { source } = change.session
      if (fresh.has(source)) fresh.set(source, change)
      else others.set(source, change)
    },
    take: () => {
      const first = [...fresh.values()].slice(0, ROUND)
      const rest = [...others.values()].slice(0, first.length > 0 ? NOT_FRESH : ROUND)
      for (const { session } of first) fresh.delete(session.source)
      for (const { session } of rest) others.delete(session.source)
      return [...first, ...rest]
    },
    isEmpty: () => fresh.size + others.size === 0,
  }
}
