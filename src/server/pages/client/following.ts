import { announce } from './announce.ts'
import { button, plural } from './dom.ts'

/** A reader within this distance from the end counts as being at the end, in pixels. */
const NEAR = 120
const ANNOUNCE_MS = 5_000

type Following = {
  /** Puts new rows into the page by `add`, which returns how many. A reader at the end sees them; for others they are announced. */
  grow(add: () => number): void
}

const isAtEnd = (): boolean => document.documentElement.scrollHeight - innerHeight - scrollY < NEAR

/** Stays at the end of a session while it grows, if the reader is there; nothing else moves. */
export const newFollowing = (toEnd: () => void): Following => {
  let unseen = 0
  let announced = 0
  const pill = button('', 'down', () => toEnd())
  pill.className = 'btn main pill'
  pill.removeAttribute('aria-label')
  pill.removeAttribute('title')
  const label = document.createElement('span')
  pill.append(label)

  const seen = () => {
    unseen = 0
    pill.remove()
  }

  const tell = (count: number) => {
    unseen += count
    label.textContent = `${unseen.toLocaleString('en')} new`
    if (!pill.isConnected) document.body.append(pill)
    if (performance.now() - announced < ANNOUNCE_MS) return
    announced = performance.now()
    announce(plural(unseen, 'new message'))
  }

  addEventListener('scroll', () => unseen > 0 && isAtEnd() && seen(), { passive: true })
  const grow: Following['grow'] = (add) => {
    const wasAtEnd = isAtEnd()
    const count = add()
    if (wasAtEnd) toEnd()
    else if (count > 0) tell(count)
  }
  return { grow }
}
