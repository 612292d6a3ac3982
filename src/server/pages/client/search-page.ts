import { announce } from './announce.ts'
import { NoFragment, fetchFragment } from './fragment.ts'
import { showLocalTimes } from './times.ts'
import { showLocalZone } from './zone.ts'

/** How long after the last key a search is sent. */
const PAUSE_MS = 120

const addressOf = (words: string): string => {
  const parameters = new URLSearchParams(location.search)
  const sort = parameters.get('sort')
  return `/search?${new URLSearchParams({ q: words, ...(sort === null ? {} : { sort }) }).toString()}`
}

/** Puts the content of another page of a search in place of this one's. */
const replaceBy = (content: DocumentFragment): void => {
  const page = content.querySelector('body > .page, .page')
  if (!page) return
  document.querySelector('.page')!.replaceWith(page)
  document.title = content.querySelector('title')?.textContent ?? document.title
  showLocalTimes(page)
  announce(page.querySelector('[role=status], h2')?.textContent ?? '')
}

/** Searches while the reader types in the field at the top. Without this script, Enter searches. */
export const startSearch = (): void => {
  showLocalZone()
  const field = document.querySelector<HTMLInputElement>('.bar input[type=search]')
  if (!field) return
  let shown = field.value.trim()
  let asked: AbortController | undefined
  let pause: ReturnType<typeof setTimeout> | undefined

  const ask = async () => {
    const words = field.value.trim()
    if (words === shown) return
    asked?.abort()
    const own = (asked = new AbortController())
    const address = addressOf(words)
    try {
      const { content } = await fetchFragment(address, own.signal)
      if (own.signal.aborted) return
      shown = words
      history.replaceState(null, '', address)
      replaceBy(content)
    } catch (error) {
      // Enter shows the page that says why.
      if (!own.signal.aborted && error instanceof NoFragment)
        announce('The search did not answer. Press Enter to ask again.')
    }
  }
  field.addEventListener('input', () => {
    clearTimeout(pause)
    pause = setTimeout(() => void ask(), PAUSE_MS)
  })
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return
    event.preventDefault() // a browser would empty the field, and the results would disappear
    field.blur()
  })
  if (shown === '') field.focus()
}
