import { announce } from './announce.ts'
import { button, closest, element } from './dom.ts'

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
const copy = async (text: string, what: string): Promise<void> => {
  const isCopied = navigator.clipboard
    ? await navigator.clipboard.writeText(text).then(
        () => true,
        () => copyByForm(text),
      )
    : copyByForm(text)
  announce(isCopied ? `${what} copied` : `${what} could not be copied`)
}

/** The text of a message as a reader sees it: its prose, or else the calls of tools. */
const textOf = (row: HTMLElement): string => {
  const said = [...row.querySelectorAll<HTMLElement>('.prose')].filter((prose) => !prose.closest('details'))
  return (said.length > 0 ? said : [...row.querySelectorAll<HTMLElement>('.in')])
    .map((one) => one.innerText.trim())
    .join('\n\n')
}

/** The address of a message, for others. */
const linkOf = (row: HTMLElement): string =>
  row.querySelector<HTMLAnchorElement>('a.at')?.href ?? location.href.split('#')[0]!

const codeOf = (pre: HTMLElement): string => pre.innerText.replace(/\n$/, '')

export const copyLink = (row: HTMLElement | undefined): Promise<void> =>
  copy(row ? linkOf(row) : location.href.split('#')[0]!, row ? 'Link to this message' : 'Link to this page')

export const copyCode = async (): Promise<void> => {
  const code = document.querySelector<HTMLElement>('pre:focus, pre:hover')
  if (code) await copy(codeOf(code), 'Code')
}

/** Puts buttons that copy beside the message under the pointer, or with the focus. There is one set of them for all messages. */
const startRowButtons = (messages: HTMLElement) => {
  let code: HTMLElement | undefined
  const ofRow = (what: (row: HTMLElement) => void) => () => {
    const row = closest(buttons, '.msg')
    if (row) what(row)
  }
  const buttons = element(
    'span',
    { class: 'copies' },
    button(
      'Copy text',
      'copy',
      ofRow((row) => void copy(textOf(row), 'Text')),
    ),
    button(
      'Copy link',
      'link',
      ofRow((row) => void copyLink(row)),
    ),
  )
  const codeButton = button('Copy code', 'copy', () => code && void copy(codeOf(code), 'Code'))
  codeButton.classList.add('copies-code')

  const moveTo = ({ target }: Event) => {
    const row = closest(target, '.msg[data-ordinal]')
    const inside = row?.querySelector(':scope > .in')
    if (!inside || buttons.contains(target as Node) || codeButton.contains(target as Node)) return
    if (buttons.parentElement !== inside) inside.append(buttons)
    const pre = closest(target, 'pre')
    if (!pre || pre === code) return
    code = pre
    inside.append(codeButton)
    const [own, outer] = [pre.getBoundingClientRect(), inside.getBoundingClientRect()]
    codeButton.style.insetBlockStart = `${own.top - outer.top}px`
    codeButton.style.insetInlineEnd = `${outer.right - own.right}px`
  }
  messages.addEventListener('pointerover', moveTo)
  messages.addEventListener('focusin', moveTo)
}

/** Buttons that copy commands, links, messages and code. */
export const startCopying = (): void => {
  document.addEventListener('click', (event) => {
    if (!closest(event.target, '[data-copy=link]')) return
    event.preventDefault()
    void copyLink(undefined)
  })
  document.addEventListener('click', (event) => {
    const link = closest(event.target, 'a[data-at]')
    const command = document.querySelector('#continue .cmd code')?.textContent
    if (!link || command === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    void copy(`${command} --at ${link.dataset['at']}`, 'Command that continues from here')
  })
  for (const line of document.querySelectorAll<HTMLElement>('.cmd')) {
    const { copies = 'Command' } = line.dataset
    const copyLine = () => void copy(line.querySelector('code')!.textContent, copies)
    line.append(button(`Copy ${copies.toLowerCase()}`, 'copy', copyLine))
  }
  const messages = document.getElementById('messages')
  if (messages) startRowButtons(messages)
}
