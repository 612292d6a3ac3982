import { announce, whisper } from './announce.ts'
import { newAsking, onTyping } from './asking.ts'
import { fetchFragment } from './fragment.ts'
import { refusal } from './hits.ts'
import { showLocalTimes } from './times.ts'
import { showLocalZone, tellZone } from './zone.ts'

const addressOf = (words: string): string => {
  const parameters = new URLSearchParams(location.search)
  const sort = parameters.get('sort')
  return `/search?${new URLSearchParams({ q: words, ...(sort === null ? {} : { sort }) }).toString()}`
}

const page = () => document.querySelector<HTMLElement>('.page')!
const firstHit = () => document.querySelector<HTMLElement>('.found a.name')

/** Puts the content of another page of a search in place of this one's. The focus stays in the results, if it was there. */
const replaceBy = (content: DocumentFragment): void => {
  const other = content.querySelector('.page')
  if (!other) return
  const hadFocus = page().contains(document.activeElement)
  page().replaceWith(other)
  if (hadFocus) firstHit()?.focus()
  document.title = content.querySelector('title')?.textContent ?? document.title
  showLocalTimes(other)
  whisper(other.querySelector('[data-says], h2')?.textContent ?? '')
}

/** Searches while the reader types in the field at the top. Without this script, Enter searches. */
export const startSearch = (): void => {
  showLocalZone()
  const field = document.querySelector<HTMLInputElement>('.bar input[type=search]')
  if (!field) return
  const asking = newAsking({
    text: () => field.value.trim(),
    ask: async (words, signal) => {
      tellZone('/search')
      page().setAttribute('aria-busy', 'true')
      try {
        return await fetchFragment(addressOf(words), { signal, isSentByScript: true })
      } finally {
        page().removeAttribute('aria-busy')
      }
    },
    show: ({ content }, words) => {
      history.replaceState(null, '', addressOf(words))
      replaceBy(content)
    },
    // Enter shows the page that says why.
    fail: (status) => announce(refusal(status)),
  })
  onTyping(field, asking.typed)
  field.addEventListener('keydown', (event) => {
    if (event.isComposing) return
    if (event.key === 'ArrowDown') firstHit()?.focus()
    else if (event.key === 'Escape') field.blur()
    else return
    event.preventDefault() // Escape would empty the field, and the results would disappear
  })
  if (field.value === '') field.focus()
}
