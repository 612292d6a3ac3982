import { once } from 'node:events'

/** Writes to stdout, and waits while its reader is slow. Exits without a word when the reader has gone, as `head` does. */
export const writeOut = async (text: string | Uint8Array): Promise<void> => {
  if (process.stdout.listenerCount('error') === 0)
    process.stdout.on('error', (error: { code?: string }) => {
      if (error.code === 'EPIPE') process.exit()
      throw error
    })
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}
