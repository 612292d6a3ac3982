import { announce } from './announce.ts'
import { element } from './dom.ts'

/** Copies by a text field: browsers offer no `navigator.clipboard` to pages that are not served over https. */
const copyByForm = (text: string): boolean => {
  const field = element('textarea', { class: 'vh', 'aria-hidden': 'true' })
  field.value = text
  const focused = document.activeElement
  ;(document.querySelector('dialog[open]') ?? document.body).append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  return isCopied
}

/** Copies a text, and announces it. `what` names the text, such as `Link to this page`. */
export const copy = async (text: string, what: string): Promise<void> => {
  const isCopied = navigator.clipboard
    ? await navigator.clipboard.writeText(text).then(
        () => true,
        () => copyByForm(text),
      )
    : copyByForm(text)
  announce(isCopied ? `${what} copied` : `${what} could not be copied`)
}
