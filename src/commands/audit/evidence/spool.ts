import { type FileHandle, open } from 'node:fs/promises'
import { explainOutput } from '../../../cli/named-file.ts'
import type { EvidenceEvent } from '../../../contract/evidence.ts'

/** Events on the disk until all are there, because they come session by session, and a file has them in the order of the log. */
export type Spool = {
  add(events: readonly EvidenceEvent[]): Promise<void>
  /** The event with this index, as the line of JSON that the file has. */
  read(index: number): Promise<string>
  /** Forgets all events. */
  clear(): Promise<void>
  close(): Promise<void>
}

export const openSpool = async (path: string): Promise<Spool> => {
  const file: FileHandle = await open(path, 'wx+', 0o600)
  const places = new Map<number, { readonly at: number; readonly bytes: number }>()
  let end = 0

  const add = async (events: readonly EvidenceEvent[]) => {
    for (const event of events) {
      const text = Buffer.from(JSON.stringify(event))
      await file.write(text, 0, text.length, end).catch(explainOutput(path))
      places.set(event.index, { at: end, bytes: text.length })
      end += text.length
    }
  }

  const read = async (index: number) => {
    const { at, bytes } = places.get(index)!
    const buffer = Buffer.allocUnsafe(bytes)
    await file.read(buffer, 0, bytes, at)
    return buffer.toString('utf8')
  }

  const clear = async () => {
    places.clear()
    end = 0
    await file.truncate(0)
  }

  return { add, read, clear, close: () => file.close() }
}
