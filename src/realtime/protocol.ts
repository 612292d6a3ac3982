import type { FrameError } from '../contract/frames.ts'

/** A result frame, as bytes. Its value is JSON text already, and shared by all subscribers. */
export const resultFrame = (id: string, value: Buffer): readonly Buffer[] => [
  Buffer.from(`{"type":"result","id":${JSON.stringify(id)},"value":`),
  value,
  RESULT_END,
]
const RESULT_END = Buffer.from('}')

export const errorFrame = (error: FrameError, id?: string): string =>
  JSON.stringify({ type: 'error', ...(id === undefined ? {} : { id }), error })
