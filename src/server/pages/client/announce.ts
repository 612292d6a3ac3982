import { element } from './dom.ts'

const SHOWN_MS = 3_000

const region = element('p', { class: 'said', role: 'status' })
const unseen = element('p', { class: 'vh', role: 'status' })
document.body.append(region, unseen)
let hiding: ReturnType<typeof setTimeout> | undefined

/** A screen reader says only a text that has changed. */
const sayIn = (one: HTMLElement, text: string) => {
  one.textContent = one.textContent === text ? `${text}\u00a0` : text
}

/** Says what has happened: to users of screen readers once nothing else is being read to them, and for a moment on the page. */
export const announce = (text: string): void => {
  sayIn(region, text)
  clearTimeout(hiding)
  hiding = setTimeout(() => (region.textContent = ''), SHOWN_MS)
}

/** Says to users of screen readers what others see on the page. */
export const whisper = (text: string): void => sayIn(unseen, text)
