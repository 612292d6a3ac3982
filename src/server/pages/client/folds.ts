import { fetchFragment } from './fragment.ts'
import { closest } from './dom.ts'
import { keepOpened } from './merge.ts'
import { ROW } from './rows.ts'

const FOLD = 'a[data-fold]'

/** A message as the service shows it with nothing folded. */
const fetchWhole = async (link: HTMLAnchorElement): Promise<HTMLElement> => {
  const url = new URL(link.href)
  url.searchParams.set('fragment', '')
  const { content } = await fetchFragment(url.pathname + url.search)
  return content.querySelector<HTMLElement>(ROW)!
}

const partsOf = (row: HTMLElement) => [...row.querySelectorAll('details')]

/** Shows the folded text in a part of a message. The part stays where it is on the screen. */
const unfold = async (link: HTMLAnchorElement): Promise<void> => {
  const row = closest(link, ROW)!
  const part = closest(link, 'details') as HTMLDetailsElement | null
  const whole = await fetchWhole(link)
  const index = part ? partsOf(row).indexOf(part) : -1
  const shown = part ? partsOf(whole)[index] : whole.querySelector(':scope > .in')
  const old = part ?? row.querySelector(':scope > .in')
  if (!shown || !old) throw new Error('The message no longer has this part')
  const hasFocus = link === document.activeElement
  const before = old.getBoundingClientRect().top
  keepOpened(old, shown)
  if (shown instanceof HTMLDetailsElement) shown.open = true
  old.replaceWith(shown)
  scrollBy(0, shown.getBoundingClientRect().top - before)
  if (hasFocus) shown.querySelector<HTMLElement>('pre')?.focus({ preventScroll: true })
}

/** Shows all that is folded in a message. */
export const unfoldAll = async (row: HTMLElement): Promise<void> => {
  for (let link = row.querySelector<HTMLAnchorElement>(FOLD); link; link = row.querySelector<HTMLAnchorElement>(FOLD)) {
    const before = link
    await unfold(link)
    if (row.contains(before)) return
  }
}

/** Makes links to folded texts show them in the page. If a text cannot be fetched, the browser follows the link. */
export const startFolds = (messages: HTMLElement): void =>
  messages.addEventListener('click', (event) => {
    const link = closest(event.target, FOLD) as HTMLAnchorElement | null
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    link.setAttribute('aria-busy', 'true')
    unfold(link).catch(() => location.assign(link.href))
  })
