import { fetchFragment } from './fragment.ts'
import { tellZone } from './zone.ts'

/** The best hits of a search. */
export type Hits = {
  /** How many there are, in words. */
  readonly says: string
  readonly hits: readonly Hit[]
}
/** A hit: the address of its message, and the title of the session and the text as the service has rendered them. */
export type Hit = { readonly href: string; readonly title: Element; readonly text: Element | undefined }

export const searchAddress = (words: string): string => `/search?${new URLSearchParams({ q: words }).toString()}`

/** Searches for what a reader is typing. @throws NoFragment */
export const findHits = async (words: string, signal: AbortSignal): Promise<Hits> => {
  tellZone('/search')
  const path = `/search/hits?${new URLSearchParams({ q: words }).toString()}`
  const { content } = await fetchFragment(path, { signal, isSentByScript: true })
  const items = [...content.querySelectorAll<HTMLElement>('[data-href]')]
  return {
    says: content.querySelector<HTMLElement>('[data-says]')?.dataset['says'] ?? '',
    hits: items.map((item) => ({ href: item.dataset['href']!, title: item.children[0]!, text: item.children[1] })),
  }
}

/** What is said if a search did not answer. */
export const refusal = (status: number): string =>
  status === 429 ? 'Too many searches: press Enter to search' : 'The search did not answer: press Enter to search'
