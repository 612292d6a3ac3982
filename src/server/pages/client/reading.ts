import { type Rows, STOP } from './rows.ts'
import { closest } from './dom.ts'

/** Opens all closed parts that contain an element. */
export const reveal = (element: Element): void => {
  for (
    let around = element.parentElement?.closest('details');
    around;
    around = around.parentElement?.closest('details')
  )
    around.open = true
}

/** Where a reader is in a session, and how they move. */
export type Reading = {
  /** The message with the focus, or else the topmost one in view. */
  current(): HTMLElement | undefined
  /** Goes to the next message (`step` 1) or the previous one (-1), or to the next element that a selector matches. */
  go(step: 1 | -1, selector?: string): Promise<void>
  /** Goes to a place in a message. */
  goTo(row: HTMLElement, place?: Element): Promise<void>
}

/** The element that gets the focus for a place: the line that opens and closes it, or the place itself. */
const focusable = (place: Element): HTMLElement => {
  const found = place.matches('details') ? place.querySelector<HTMLElement>(':scope > summary') : undefined
  const target = found ?? (place as HTMLElement)
  if (target.tabIndex < 0 && !target.hasAttribute('tabindex')) target.tabIndex = -1
  return target
}

export const heightOfBar = (): number => document.querySelector('.bar')?.getBoundingClientRect().bottom ?? 0

/** Whether a row begins in view, so that it need not be moved; not at the very end of the window. */
export const isInReading = (row: Element): boolean => {
  const { top } = row.getBoundingClientRect()
  return row.isConnected && top >= heightOfBar() && top <= innerHeight * (7 / 8)
}

export const newReading = (messages: HTMLElement, rows: Rows): Reading => {
  const topmost = (): HTMLElement | undefined => {
    const top = Math.max(heightOfBar(), 0) + 1
    return [...messages.querySelectorAll<HTMLElement>(STOP)].find((row) => row.getBoundingClientRect().bottom > top)
  }

  const focused = (): HTMLElement | undefined => {
    const row = closest(document.activeElement, STOP)
    return row && messages.contains(row) ? row : undefined
  }

  const goTo: Reading['goTo'] = async (row, place = row) => {
    const isInRow = place !== row
    const shown = await rows.show(row)
    const target = isInRow && shown.contains(place) ? place : shown
    reveal(target)
    const taker = focusable(target)
    taker.scrollIntoView({ block: isInRow ? 'center' : 'start' })
    taker.focus({ preventScroll: true })
  }

  /** The next element that a selector matches, in a direction from the focus, in this message or another one. */
  const nextPlace = async (step: 1 | -1, selector: string) => {
    const from = focused() ?? topmost()
    const inRow = (row: HTMLElement) => {
      const places = row.matches(selector) ? [row] : [...row.querySelectorAll(selector)]
      return step > 0 ? places : places.reverse()
    }
    const active = document.activeElement
    const isBehind = (place: Element) => {
      const order = active ? active.compareDocumentPosition(place) : 0
      const isAround = place.contains(active)
      return (
        !isAround && Boolean(order & (step > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING))
      )
    }
    const hereIn = (row: HTMLElement) => {
      if (focused()) return inRow(row).find(isBehind)
      return step > 0 ? inRow(row)[0] : undefined
    }
    const here = from && hereIn(from)
    if (from && here) return { row: from, place: here }
    for await (const row of rows.next(from, step)) {
      const [place] = inRow(row)
      if (place) return { row, place }
    }
    return undefined
  }

  const go: Reading['go'] = async (step, selector = STOP) => {
    const found = await nextPlace(step, selector)
    if (found) await goTo(found.row, found.place)
  }

  return { current: () => focused() ?? topmost(), go, goTo }
}
