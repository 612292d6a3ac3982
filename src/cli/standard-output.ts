import { once } from 'node:events'
import { io } from './io.ts'

let endsWithReader = false

/** Ends the process without a word once the reader of a pipe has gone, as `head` does. */
const endWithReader = (): void => {
  if (endsWithReader) return
  endsWithReader = true
  io().stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit()
  })
}

/** Writes to stdout, and waits while its reader is slow. Exits without a word when the reader has gone. */
export const writeOut = async (text: string | Uint8Array): Promise<void> => {
  endWithReader()
  if (!io().stdout.write(text)) await once(io().stdout, 'drain')
}

/** For the errors of stdout: the reader of a pipe may leave, and what is still printed is lost then. That is no failure. */
export const forgiveLeftReader = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE') throw error
}
