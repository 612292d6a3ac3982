import type { Json } from '../support/json.ts'

/** A message as opencode stores it. `number` is its place among the session's messages, from 1. */
export type StoredMessage = {
  readonly id: string
  readonly number: number
  readonly info: Json
  /** In order, without those that are damaged. */
  readonly parts: readonly StoredPart[]
}

export type StoredPart = { readonly id: string; readonly json: Json }

/** The row or file of a session, in the words of the files. */
export type SessionInfo = {
  readonly id: string
  readonly title: string | undefined
  readonly directory: string | undefined
  readonly revert: Json | undefined
  /** The session whose sub-agent it is. */
  readonly parent: string | undefined
}

/** Called for each message or part that is not one JSON object. */
export type OnDamaged = (message: number) => void
