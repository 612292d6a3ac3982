import { once } from 'node:events'
import { io } from './io.ts'

/** Those whose readers are looked after. */
const watched = new WeakSet<NodeJS.WriteStream>()

/** Ends the process without a word once the reader of a pipe has gone, as `head` does. */
const endWithReader = (stdout: NodeJS.WriteStream): void => {
  if (watched.has(stdout)) return
  watched.add(stdout)
  stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit()
  })
}

/** Writes to stdout, and waits while its reader is slow. Exits without a word when the reader has gone. */
export const writeOut = async (text: string | Uint8Array): Promise<void> => {
  const { stdout } = io()
  endWithReader(stdout)
  if (!stdout.write(text)) await once(stdout, 'drain')
}

/** For the errors of stdout: the reader of a pipe may leave, and what is still printed is lost then. That is no failure. */
export const forgiveLeftReader = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE') throw error
}
