import type { Turn } from './transcript/turns.ts'

/** A transcript in one format, piece by piece; no piece takes long to make. */
export type Document = {
  start(): string
  turn(turn: Turn): Iterable<string>
  end(): string
}
