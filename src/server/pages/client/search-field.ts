import { whisper } from './announce.ts'
import { newAsking, onTyping } from './asking.ts'
import { closest, element, icon } from './dom.ts'
import { type Hit, findHits, refusal, searchAddress } from './hits.ts'

const optionOf = (href: string, ...content: readonly Node[]): HTMLElement =>
  element('li', { role: 'option', 'aria-selected': 'false', 'data-href': href }, ...content)

const hitOption = ({ href, title, text }: Hit): HTMLElement =>
  optionOf(href, icon('outline'), title, ...(text ? [text] : []))

const go = (option: HTMLElement, { ctrlKey, metaKey }: KeyboardEvent | MouseEvent): void => {
  const href = option.dataset['href']!
  if (ctrlKey || metaKey) open(href, '_blank', 'noopener')
  else location.assign(href)
}

/** The list below the field: hits, and at its end the link to all results. The focus stays in the field, which names the chosen option. */
const newList = (field: HTMLInputElement) => {
  const list = element('ul', { role: 'listbox', id: 'hits', 'aria-label': 'Found' })
  const note = element('p', { class: 'soft' })
  const box = element('div', { class: 'hits' }, note, list)
  box.hidden = true
  field.setAttribute('role', 'combobox')
  field.setAttribute('aria-autocomplete', 'list')
  field.setAttribute('aria-controls', list.id)
  field.setAttribute('aria-expanded', 'false')
  let options: readonly HTMLElement[] = []
  /** The index of the chosen option; -1 while none is. */
  let chosen = -1

  const choose = (index: number) => {
    chosen = index
    for (const [i, option] of options.entries()) option.setAttribute('aria-selected', String(i === chosen))
    const option = options[chosen]
    if (option) field.setAttribute('aria-activedescendant', option.id)
    else field.removeAttribute('aria-activedescendant')
    option?.scrollIntoView({ block: 'nearest' })
  }

  const setOpen = (isOpen: boolean) => {
    box.hidden = !isOpen
    field.setAttribute('aria-expanded', String(isOpen))
    choose(-1)
  }

  const show = (says: string, hits: readonly Hit[], words: string) => {
    const label = hits.length > 0 ? 'All results' : 'Open the page of the search'
    options = [...hits.map(hitOption), optionOf(searchAddress(words), icon('search'), element('span', {}, label))]
    for (const [i, option] of options.entries()) option.id = `hit-${i}`
    list.replaceChildren(...options)
    note.textContent = says
    setOpen(document.activeElement === field)
    whisper(says)
  }

  // The field keeps the focus, so that the list is still there when a click ends.
  box.addEventListener('pointerdown', (event) => event.preventDefault())
  box.addEventListener('click', (event) => {
    const option = closest(event.target, '[role=option]')
    if (option) go(option, event)
  })
  return {
    box,
    show,
    close: () => setOpen(false),
    isOpen: () => !box.hidden,
    chosen: () => options[chosen],
    /** Chooses the next option; before the first one and behind the last one none. */
    step: (by: 1 | -1) => {
      const places = options.length + 1
      choose(((chosen + 1 + by + places) % places) - 1)
    },
  }
}

/** Lists hits below the field at the top while the reader types. Without this script, or without a choice, Enter leads to the page of the search. */
export const startSearchField = (): void => {
  const field = document.querySelector<HTMLInputElement>('.bar input[type=search]')
  if (!field?.form) return
  const list = newList(field)
  field.form.append(list.box)
  const words = () => field.value.trim()
  const asking = newAsking({
    text: words,
    ask: findHits,
    show: ({ says, hits }, text) => list.show(hits.length === 0 ? `Nothing for “${text}”` : says, hits, text),
    fail: (status) => list.show(refusal(status), [], words()),
  })
  const close = () => {
    asking.stop()
    list.close()
  }
  onTyping(field, () => (words() === '' ? close() : asking.typed()))
  field.addEventListener('blur', close)
  field.addEventListener('keydown', (event) => {
    if (event.isComposing || !list.isOpen()) return
    const option = list.chosen()
    if (event.key === 'ArrowDown') list.step(1)
    else if (event.key === 'ArrowUp') list.step(-1)
    else if (event.key === 'Escape') close()
    else if (event.key === 'Enter' && option) go(option, event)
    else return
    event.preventDefault()
  })
}
