import type { SessionMessage } from '../agent.ts'
import { objectOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'

/**
 * The places of the commands for a compaction: the CLI writes `/compact` after the boundary and the summary that it has caused, and it stands before
 * them (README, rule 6).
 */
export const newCompactions = () => {
  /** The line of the last boundary that a command has caused, until that command is found. */
  let boundary: number | undefined
  return {
    /** The place of the command, `undefined` for all other messages, which have that of their line. */
    orderOf: ({ json, number }: ObjectLine, message: SessionMessage | undefined): number | undefined => {
      const isBoundary = json['type'] === 'system' && json['subtype'] === 'compact_boundary'
      if (isBoundary) boundary = objectOf(json['compactMetadata'])['trigger'] === 'auto' ? undefined : number
      if (boundary === undefined || message?.role !== 'system') {
        // What was said since then, the command has not caused.
        if (message?.role === 'user') boundary = undefined
        return undefined
      }
      const [part] = message.parts
      if (part?.type !== 'text' || !/^\/compact(?:\s|$)/.test(part.content.text)) return undefined
      const order = boundary - 0.25
      boundary = undefined
      return order
    },
  }
}
