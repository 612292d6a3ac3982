import type { FrameError } from '../contract/frames.ts'

/** A result frame, as bytes: its value, which is JSON text already, is the same for all who are told it. */
export const resultFrame = (id: string, value: Buffer): readonly Buffer[] => [
  Buffer.from(`{"type":"result","id":${JSON.stringify(id)},"value":`),
  value,
  RESULT_END,
]
const RESULT_END = Buffer.from('}')

export const errorFrame = (error: FrameError, id?: string): string =>
  JSON.stringify({ type: 'error', ...(id === undefined ? {} : { id }), error })
