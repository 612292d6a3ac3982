import { ROW, ordinalOf } from './rows.ts'

/** Opens and closes the parts of a new row as the reader has opened and closed those of the old one. */
export const keepOpened = (old: Element, row: Element) => {
  const [before, after] = [old, row].map((one) => [...one.querySelectorAll('details')]) as [
    HTMLDetailsElement[],
    HTMLDetailsElement[],
  ]
  for (const [i, part] of before.entries()) {
    const same = after[i]
    if (same && same.className === part.className) same.open = part.open
  }
}

/** Replaces a row by its new version. Parts that were open stay open, and the focus stays where it was. */
export const replaceRow = (old: HTMLElement, row: HTMLElement) => {
  keepOpened(old, row)
  const focused = old.contains(document.activeElement) ? document.activeElement : undefined
  const index = focused ? [...old.querySelectorAll('summary, a, pre, button')].indexOf(focused) : -1
  old.replaceWith(row)
  if (!focused) return
  if (old === focused) row.tabIndex = -1
  const taker = index < 0 ? row : [...row.querySelectorAll<HTMLElement>('summary, a, pre, button')][index]
  ;(taker ?? row).focus({ preventScroll: true })
}

/** The placeholders that say that the row of a message no longer exists. */
export const goneIn = (content: ParentNode): HTMLElement[] => [...content.querySelectorAll<HTMLElement>('.msg.gone')]

/** Removes a row from its list, and the run of calls around it if that has no other row. */
export const removeRow = (row: HTMLElement) => {
  const run = row.closest('details.run')
  row.remove()
  if (run && !run.querySelector(ROW)) run.remove()
}

/** The child of the list of messages that holds a row, or is the row. */
const blockOf = (messages: HTMLElement, row: HTMLElement): Element => {
  let block: Element = row
  while (block.parentElement && block.parentElement !== messages) block = block.parentElement
  return block
}

/**
 * Puts changed rows into the list: each replaces its earlier version, and new rows are inserted by their ordinals. Returns the new rows.
 */
export const mergeRows = (messages: HTMLElement, fragment: DocumentFragment): HTMLElement[] => {
  const added: HTMLElement[] = []
  const sameRow = ({ dataset }: HTMLElement) =>
    messages.querySelector<HTMLElement>(`[data-id="${CSS.escape(dataset['id'] ?? '')}"]`)
  for (const gone of goneIn(fragment)) {
    const old = sameRow(gone)
    if (old) removeRow(old)
  }
  for (const row of [...fragment.querySelectorAll<HTMLElement>(ROW)]) {
    const old = sameRow(row)
    if (old) replaceRow(old, row)
    else {
      const before = [...messages.querySelectorAll<HTMLElement>(ROW)].findLast((one) => ordinalOf(one) < ordinalOf(row))
      if (before) blockOf(messages, before).after(row)
      else messages.prepend(row)
      added.push(row)
    }
  }
  return added
}
