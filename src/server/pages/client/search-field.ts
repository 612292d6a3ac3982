import { whisper } from './announce.ts'
import { newAsking, onTyping } from './asking.ts'
import { closest, element, icon } from './dom.ts'
import { type Hit, findHits, refusal, searchAddress } from './hits.ts'

/** Lists hits below the field at the top while the reader types. Without this script, or without a choice, Enter leads to the page of the search. */
export const startSearchField = (): void => {
  const field = document.querySelector<HTMLInputElement>('.bar input[type=search]')
  const form = field?.form
  if (!field || !form) return
  const list = element('ul', { role: 'listbox', id: 'hits', 'aria-label': 'Found' })
  const note = element('p', { class: 'soft' })
  const box = element('div', { class: 'hits' }, note, list)
  box.hidden = true
  form.append(box)
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-controls': 'hits',
    'aria-expanded': 'false',
  }))
    field.setAttribute(name, value)

  const options = () => [...list.querySelectorAll<HTMLElement>('[role=option]')]
  let chosen = -1

  const choose = (index: number) => {
    const all = options()
    chosen = index
    for (const [i, option] of all.entries()) option.setAttribute('aria-selected', String(i === chosen))
    const option = all[chosen]
    if (option) field.setAttribute('aria-activedescendant', option.id)
    else field.removeAttribute('aria-activedescendant')
    option?.scrollIntoView({ block: 'nearest' })
  }

  const setOpen = (isOpen: boolean) => {
    box.hidden = !isOpen
    field.setAttribute('aria-expanded', String(isOpen))
    if (!isOpen) choose(-1)
  }

  const optionOf = (href: string, ...content: readonly (Node | string)[]) => {
    const option = element('li', { role: 'option', 'aria-selected': 'false', 'data-href': href }, ...content)
    return option
  }
  const hitOption = ({ href, title, text }: Hit) => optionOf(href, icon('outline'), title, ...(text ? [text] : []))

  const show = (says: string, hits: readonly Hit[], words: string) => {
    const label = hits.length > 0 ? 'All results' : 'Open the page of the search'
    const all = optionOf(searchAddress(words), icon('search'), element('span', {}, label))
    list.replaceChildren(...hits.map(hitOption), all)
    for (const [i, option] of options().entries()) option.id = `hit-${i}`
    note.textContent = says
    setOpen(document.activeElement === field)
    choose(-1)
    whisper(says)
  }

  const words = () => field.value.trim()
  const asking = newAsking({
    text: words,
    ask: findHits,
    show: ({ says, hits }, text) => show(hits.length === 0 ? `Nothing for “${text}”` : says, hits, text),
    fail: (status) => show(refusal(status), [], words()),
  })
  const close = () => {
    asking.stop()
    setOpen(false)
  }
  const go = (option: HTMLElement, isNewTab: boolean) => {
    const href = option.dataset['href']!
    if (isNewTab) open(href, '_blank', 'noopener')
    else location.assign(href)
  }

  onTyping(field, () => (words() === '' ? close() : asking.typed()))
  field.addEventListener('keydown', (event) => {
    if (event.isComposing || box.hidden) return
    const count = options().length
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const option = options()[chosen]
    // Before the first option and behind the last one is the field itself.
    if (step !== undefined) choose(((chosen + 1 + step + count + 1) % (count + 1)) - 1)
    else if (event.key === 'Escape') close()
    else if (event.key === 'Enter' && option) go(option, event.ctrlKey || event.metaKey)
    else return
    event.preventDefault()
  })
  field.addEventListener('blur', close)
  // The field keeps the focus, so that the list is still there when a click ends.
  box.addEventListener('pointerdown', (event) => event.preventDefault())
  box.addEventListener('click', ({ target, ctrlKey, metaKey }) => {
    const option = closest(target, '[role=option]')
    if (option) go(option, ctrlKey || metaKey)
  })
}
