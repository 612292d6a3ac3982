import type { RecordedEvent } from '../../eventstore/log/log.ts'
import { entryOf } from './entry.ts'

/** How many events are proved together, and the most bytes of entries that they have, unless it is one: what is held of them besides their JSON texts. */
const WINDOW = 50
const WINDOW_BYTES = 1024 * 1024

/** Events that are proved together; `bytes` is the length of their entries. */
type Window<Item> = { readonly items: readonly Item[]; readonly bytes: number }

/** Items with an event, in windows. */
export async function* windowsOf<Item extends { readonly event: RecordedEvent }>(
  all: AsyncIterable<Item>,
): AsyncGenerator<Window<Item>, void> {
  let items: Item[] = []
  let held = 0
  for await (const item of all) {
    const bytes = Buffer.byteLength(entryOf(item.event))
    if (items.length === WINDOW || (items.length > 0 && held + bytes > WINDOW_BYTES)) {
      yield { items, bytes: held }
      items = []
      held = 0
    }
    items.push(item)
    held += bytes
  }
  if (items.length > 0) yield { items, bytes: held }
}
